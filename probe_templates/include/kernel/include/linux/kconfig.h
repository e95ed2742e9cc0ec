/* The first thing that libbcc includes, before the program. */
#ifndef MLBCC_LINUX_KCONFIG_H
#define MLBCC_LINUX_KCONFIG_H

#define CONFIG_BPF_SYSCALL 1
/* System calls take their arguments from a pt_regs on every architecture here. */
#define CONFIG_ARCH_HAS_SYSCALL_WRAPPER 1

#include <linux/compiler.h>
#include <linux/types.h>

#endif
