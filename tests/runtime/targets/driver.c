/* Does what the lines of its standard input say, and answers each with a line:
 *   call N TAG    tick(TAG, 0..N-1)       thread N TAG   the same in a new thread
 *   fork N TAG    the same in a child     start N TAG    a child that lives on and takes `tell`
 *   tell N TAG    the same in that child  pid            its process id
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int tick(int tag, int i) {
    return tag + i;
}

struct job {
    int n, tag;
};

static void run(struct job job) {
    for (int i = 0; i < job.n; i++) tick(job.tag, i);
}

static void* in_thread(void* job) {
    run(*(struct job*)job);
    return NULL;
}

static void in_child(struct job job) {
    pid_t child = fork();
    if (child == 0) {
        run(job);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static int to_child[2], from_child[2];

static void child_loop(struct job job) {
    char done = 'd';
    run(job);
    while (read(to_child[0], &job, sizeof job) == (ssize_t)sizeof job) {
        run(job);
        if (write(from_child[1], &done, 1) != 1) break;
    }
    _exit(0);
}

static void start(struct job job) {
    if (pipe(to_child) != 0 || pipe(from_child) != 0) exit(1);
    if (fork() == 0) {
        close(to_child[1]);
        child_loop(job);
    }
}

static void tell(struct job job) {
    char done;
    if (write(to_child[1], &job, sizeof job) != (ssize_t)sizeof job) exit(1);
    if (read(from_child[0], &done, 1) != 1) exit(1);
}

static void obey(const char* verb, struct job job) {
    pthread_t thread;
    if (strcmp(verb, "call") == 0) run(job);
    if (strcmp(verb, "fork") == 0) in_child(job);
    if (strcmp(verb, "start") == 0) start(job);
    if (strcmp(verb, "tell") == 0) tell(job);
    if (strcmp(verb, "thread") == 0) {
        pthread_create(&thread, NULL, in_thread, &job);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    char line[128], verb[16];
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct job job = {0, 0};
        if (sscanf(line, "%15s %d %d", verb, &job.n, &job.tag) < 1) continue;
        obey(verb, job);
        printf("%d\n", getpid());
        fflush(stdout);
    }
    return 0;
}
