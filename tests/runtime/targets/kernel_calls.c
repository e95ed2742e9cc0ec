/* System calls in the ways that a tracer must tell apart. One word of the command line each:
 *   untouched FILE   opens the path that stands at FILE's 5000th byte, in a page nobody has touched
 *   interrupted      a read() that a signal ends, and one that goes on after it
 *   threads N        N threads, each with 10 calls of getppid(), and a child with as many
 *   killed           a thread is in read() when the process ends
 *   sleeper          in read() until standard input ends; writes a byte first
 *   many N           N calls of getppid()
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void call(int n) {
    for (int i = 0; i < n; i++) syscall(SYS_getppid);
}

static void untouched(const char* name) {
    int fd = open(name, O_RDONLY);
    char* text = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED) exit(2);
    int opened = open(text + 5000, O_RDONLY);
    exit(opened < 0);
}

static void write_one(int number) {
    static int times;
    (void)number;
    if (times++ > 0 && write(ends[1], "x", 1) != 1) _exit(3);
}

static void interrupted(void) {
    struct itimerval soon = {{0, 0}, {0, 50000}};
    struct sigaction action = {.sa_handler = write_one};
    char byte;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    if (read(ends[0], &byte, 1) != -1) exit(1);
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    if (read(ends[0], &byte, 1) != 1) exit(2);
}

static void* in_thread(void* none) {
    call(10);
    return none;
}

static void threads(int n) {
    pthread_t all[64];
    for (int i = 0; i < n; i++) pthread_create(&all[i], NULL, in_thread, NULL);
    for (int i = 0; i < n; i++) pthread_join(all[i], NULL);
    if (fork() == 0) {
        call(10);
        _exit(0);
    }
    wait(NULL);
}

static void* reader(void* none) {
    char byte;
    if (read(ends[0], &byte, 1) == 1) abort();
    return none;
}

static void killed(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    usleep(50000);
    exit(0);
}

int main(int argc, char** argv) {
    const char* verb = argc > 1 ? argv[1] : "";
    const char* more = argc > 2 ? argv[2] : "0";
    char byte;
    if (pipe(ends) != 0) return 9;
    if (strcmp(verb, "untouched") == 0) untouched(more);
    if (strcmp(verb, "interrupted") == 0) interrupted();
    if (strcmp(verb, "threads") == 0) threads(atoi(more));
    if (strcmp(verb, "killed") == 0) killed();
    if (strcmp(verb, "many") == 0) call(atoi(more));
    if (strcmp(verb, "sleeper") == 0) {
        if (write(1, "s", 1) != 1) return 9;
        while (read(0, &byte, 1) == 1) {
        }
    }
    return 0;
}
