/* Processes with one number, one after the other: the first sleeps for 200 ms, the second computes
 * so much of a CPU's time, the third is as the first. */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double used(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static pid_t start(pid_t number, int computes) {
    struct clone_args how;
    memset(&how, 0, sizeof how);
    how.exit_signal = SIGCHLD;
    if (number != 0) {
        how.set_tid = (uintptr_t)&number;
        how.set_tid_size = 1;
    }
    pid_t child = syscall(SYS_clone3, &how, sizeof how);
    if (child != 0) return child;
    if (!computes) usleep(200000);
    while (computes && used() < 0.2) {
    }
    _exit(computes);
}

int main(void) {
    pid_t number = 0;
    for (int i = 0; i < 3; i++) {
        pid_t child = start(number, i == 1);
        if (child < 0) return 9;
        number = child;
        waitpid(child, NULL, 0);
    }
    return 0;
}
