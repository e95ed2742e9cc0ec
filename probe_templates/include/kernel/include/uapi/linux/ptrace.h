/* The registers that a probe sees, as the architecture lays them out. */
#ifndef MLBCC_UAPI_LINUX_PTRACE_H
#define MLBCC_UAPI_LINUX_PTRACE_H

#include <asm/ptrace.h>

#endif
