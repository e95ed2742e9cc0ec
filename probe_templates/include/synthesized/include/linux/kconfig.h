/* The first thing that libbcc includes, before the program: all of the running kernel's types. */
#ifndef MLBCC_LINUX_KCONFIG_H
#define MLBCC_LINUX_KCONFIG_H

#define CONFIG_BPF_SYSCALL 1
#define CONFIG_ARCH_HAS_SYSCALL_WRAPPER 1
/* libbcc's own <linux/bpf.h> would define the enums of BPF once more. */
#define _UAPI__LINUX_BPF_H__

#include <linux/compiler.h>
#include <mlbcc/vmlinux.h>
#include <mlbcc/constants.h>

#endif
