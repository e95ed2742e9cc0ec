/* The types of POSIX, as glibc has them on 64-bit machines. */
#ifndef MLBCC_LIBC_SYS_TYPES_H
#define MLBCC_LIBC_SYS_TYPES_H

#if __has_include(<bits/types.h>)
#include <bits/types.h> /* glibc's other headers count on it */
#endif
#include <stddef.h>
#include <stdint.h>

typedef long ssize_t;
typedef long off_t;
typedef long off64_t;
typedef long loff_t;
typedef int pid_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int id_t;
typedef unsigned int mode_t;
typedef unsigned long dev_t;
typedef unsigned long ino_t;
#ifdef __aarch64__
typedef unsigned int nlink_t;
typedef int blksize_t;
#else
typedef unsigned long nlink_t;
typedef long blksize_t;
#endif
typedef long blkcnt_t;
typedef unsigned long fsblkcnt_t;
typedef unsigned long fsfilcnt_t;
typedef int key_t;
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
typedef void* timer_t;
typedef unsigned int useconds_t;
typedef long suseconds_t;
typedef char* caddr_t;

typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#endif
