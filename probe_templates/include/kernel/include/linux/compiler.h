/* Words of the kernel's C that programs and libbcc's headers use. */
#ifndef MLBCC_LINUX_COMPILER_H
#define MLBCC_LINUX_COMPILER_H

#define __user
#define __kernel
#define __percpu
#define __rcu
#define __force
#define __packed __attribute__((packed))
#define __aligned(bytes) __attribute__((aligned(bytes)))
#define __maybe_unused __attribute__((unused))
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define offsetof(type, member) __builtin_offsetof(type, member)
#define container_of(pointer, type, member) ((type*)((char*)(pointer)-offsetof(type, member)))

#endif
