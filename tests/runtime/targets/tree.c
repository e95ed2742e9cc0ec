/* 8 threads, each calling in recursion 5 deep and forking 4 children that do the same, all at once.
 * Prints how many calls of each function were made in all. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, CHILDREN = 4, DEPTH = 5 };

int leaf(int thread, int child) {
    return thread * 10 + child;
}

int work(int thread, int child, int depth) {
    if (depth == DEPTH) return leaf(thread, child);
    return work(thread, child, depth + 1) + 1;
}

static void* run(void* number) {
    int thread = (int)(intptr_t)number;
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) _exit(work(thread, i + 1, 1) == 0);
    }
    work(thread, 0, 1);
    for (int i = 0; i < CHILDREN; i++) waitpid(children[i], NULL, 0);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void*)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    int runs = THREADS * (1 + CHILDREN);
    printf("{\"work\": %d, \"leaf\": %d, \"processes\": %d, \"threads\": %d}\n", runs * DEPTH, runs,
           1 + THREADS * CHILDREN, 1 + THREADS + THREADS * CHILDREN);
    return 0;
}
