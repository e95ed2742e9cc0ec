// Three threads that wait by known amounts: one sleeps, one waits for a lock, one reads a pipe.
// Prints what each of them has waited, in nanoseconds, by its own clock.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pipe_ends[2];
static long waited[3];
static pthread_barrier_t together;

static void begin_together(int thread) {
    long begin = now();
    pthread_barrier_wait(&together);
    waited[thread] += now() - begin;
}

static void* sleeper(void* unused) {
    prctl(PR_SET_NAME, "sleeper");
    begin_together(0);
    for (int i = 0; i < 5; ++i) {
        long begin = now();
        pause_ms(20);
        waited[0] += now() - begin;
    }
    return unused;
}

static void* locker(void* unused) {
    prctl(PR_SET_NAME, "locker");
    begin_together(1);
    long begin = now();
    pthread_mutex_lock(&lock);
    waited[1] += now() - begin;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void* reader(void* unused) {
    prctl(PR_SET_NAME, "reader");
    begin_together(2);
    char byte;
    for (int i = 0; i < 3; ++i) {
        long begin = now();
        if (read(pipe_ends[0], &byte, 1) != 1) return unused;
        waited[2] += now() - begin;
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    if (pipe(pipe_ends) != 0) return 1;
    pthread_barrier_init(&together, 0, 4);
    pthread_mutex_lock(&lock);
    pthread_create(&threads[0], 0, sleeper, 0);
    pthread_create(&threads[1], 0, locker, 0);
    pthread_create(&threads[2], 0, reader, 0);
    pthread_barrier_wait(&together);
    for (int i = 0; i < 3; ++i) {
        pause_ms(30);
        if (write(pipe_ends[1], "x", 1) != 1) return 1;
    }
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
    printf("{\"sleeper\": %ld, \"locker\": %ld, \"reader\": %ld}\n", waited[0], waited[1],
           waited[2]);
    return 0;
}
