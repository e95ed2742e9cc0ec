/* What is read of a tree of kernel headers where they, and not BTF, say what `task` in a rule points
 * at: task_struct, and what can be reached from it. A header that a version lacks is left out. */
#define __KERNEL__ 1
#define KBUILD_MODNAME "mlbcc"

#include <linux/kconfig.h>
#include <linux/sched.h>
#if __has_include(<linux/sched/signal.h>)
#include <linux/sched/signal.h>
#endif
#include <linux/cred.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/nsproxy.h>
#include <linux/pid_namespace.h>

void mlbcc_task(struct task_struct *task);
