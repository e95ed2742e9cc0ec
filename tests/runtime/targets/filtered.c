/* A program whose system calls a filter (seccomp) answers, as in a container:

     mkdir    EPERM, without the kernel's doing anything
     rmdir    a signal (SIGSYS), whose handler puts 7 for the result
     link     the process ends, in a child

   filtered WAY    calls: five mkdirs, three rmdirs, a link and as many getppids of all, in main
                   threads: the same mkdirs in two threads that the filter is older than, too
                   exec: before mkdirs, a program takes its place
                   neighbour: in main, and in a child whose id has the same last eight bits
                   line: waits for a line, then calls; a thread that was there waits for it in
   read()  */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void put_result(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)info;
    ucontext_t* of = context;
#ifdef __x86_64__
    of->uc_mcontext.gregs[REG_RAX] = 7;
#else
    of->uc_mcontext.regs[0] = 7;
#endif
}

#define ANSWER(call, how)                                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, how)

static void filter(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ANSWER(mkdirat, SECCOMP_RET_ERRNO | EPERM),
        ANSWER(unlinkat, SECCOMP_RET_TRAP),
        ANSWER(linkat, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    struct sigaction action = {.sa_sigaction = put_result, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        exit(9);
}

/* The kernel does not look at the name: somebody must have, or its page is not there. */
static int make(const char* name) {
    (void)*(volatile const char*)name;
    return (int)syscall(SYS_mkdirat, AT_FDCWD, name, 0700);
}

static void* five(void* name) {
    for (int i = 0; i < 5; i++) {
        syscall(SYS_getppid);
        if (make(name) != -1 || errno != EPERM) exit(8);
    }
    return NULL;
}

static void* wait_for_line(void* unused) {
    char line[80];
    if (read(0, line, sizeof line) < 0) exit(7);
    return unused;
}

int main(int argc, char** argv) {
    const char* way = argc > 1 ? argv[1] : "calls";
    pthread_t threads[2];
    if (!strcmp(way, "threads")) {
        filter();
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, five, "in-thread");
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        five("in-main");
        return 0;
    }
    if (!strcmp(way, "exec")) {
        filter();
        execl("/proc/self/exe", argv[0], "after", (char*)NULL);
        return 6;
    }
    if (!strcmp(way, "after")) return five("after-exec"), 0;
    if (!strcmp(way, "neighbour")) {
        filter();
        pid_t mine = getpid();
        for (int tries = 0; tries < 100000; tries++) {
            pid_t child = fork();
            if (child == 0 && (getpid() - mine) % 256 == 0) five("in-neighbour");
            if (child == 0) _exit(0);
            waitpid(child, NULL, 0);
            if ((child - mine) % 256 == 0) return five("in-main"), 0;
        }
        return 2;
    }
    if (!strcmp(way, "line")) {
        filter();
        pthread_create(&threads[0], NULL, wait_for_line, NULL);
        pthread_join(threads[0], NULL);
        five("after-line");
        return 0;
    }
    make("before");
    rmdir("before");
    filter();
    five("answered");
    for (int i = 0; i < 3; i++) {
        if (syscall(SYS_unlinkat, AT_FDCWD, "trapped", AT_REMOVEDIR) != 7) return 5;
    }
    pid_t child = fork();
    if (child == 0) {
        five("in-child");
        syscall(SYS_linkat, AT_FDCWD, "killed", AT_FDCWD, "killed too", 0);
        _exit(4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? 0 : 3;
}
