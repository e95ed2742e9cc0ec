/* Functions in which the process forks: each returns in two processes, but is called once.
 * spawn, outer, lend: called 3 times each; work: 16 times, in both processes. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int work(int n) {
    return n;
}

pid_t spawn(int n) {
    pid_t child = fork();
    work(n);
    return child;
}

int outer(int n) {
    pid_t child = spawn(n);
    if (child == 0) return work(50) - 49;
    waitpid(child, NULL, 0);
    return 2;
}

int lend(int n) {
    pid_t child = vfork();
    if (child == 0) {
        work(60 + n);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return 3;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        if (outer(i) == 1) exit(work(70) - 70);
    }
    for (int i = 0; i < 3; i++) lend(i);
    return work(99) - 99;
}
