/* Numbers that programs for BCC take from the kernel's headers, and that no type information has: of
 * the user-space interface, the same in all kernels. */
#ifndef MLBCC_CONSTANTS_H
#define MLBCC_CONSTANTS_H

#ifndef NULL
#define NULL ((void*)0)
#endif

#define TASK_COMM_LEN 16
#define NAME_MAX 255
#define PATH_MAX 4096
#define IFNAMSIZ 16

#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define AF_NETLINK 16
#define AF_PACKET 17

#define TASK_RUNNING 0
#define TASK_INTERRUPTIBLE 1
#define TASK_UNINTERRUPTIBLE 2

#define S_IFMT 00170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFDIR 0040000
#define S_ISREG(mode) (((mode)&S_IFMT) == S_IFREG)
#define S_ISDIR(mode) (((mode)&S_IFMT) == S_IFDIR)

#define MINORBITS 20
#define MINORMASK ((1U << MINORBITS) - 1)
#define MAJOR(device) ((unsigned int)((device) >> MINORBITS))
#define MINOR(device) ((unsigned int)((device)&MINORMASK))

#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L

#endif
