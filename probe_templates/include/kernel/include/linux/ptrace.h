#include <uapi/linux/ptrace.h>
