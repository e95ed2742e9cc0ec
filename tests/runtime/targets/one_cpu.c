// Threads that share one CPU, in the middle of each other's calls: three that compute, and one of a
// higher priority that wakes up again and again and takes the CPU from them wherever they are. All
// arguments of a call follow from the thread (1 to 4) and the round, and so does what it returns.
//
//   one_cpu ROUNDS   each thread makes ROUNDS calls of each function and system call
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "usdt.h"

enum { THREADS = 4 };
static long rounds = 1000;

// Functions of one kind, each with a rule of its own: together they are a plan of many shapes.
#define FUNCTION(name)                                                                             \
    __attribute__((noinline)) long name(long a, long b, long c, long thread, const char* text) {   \
        __asm__ volatile("" ::: "memory");                                                         \
        return a ^ b ^ c ^ thread ^ text[0];                                                       \
    }
FUNCTION(first)
FUNCTION(second)
FUNCTION(third)
FUNCTION(fourth)

__attribute__((noinline)) static void turn(long thread, long i, int zeros, char* text,
                                           char* bytes) {
    const long a = thread * 1000000 + i;
    snprintf(text, 64, "t%ld-%ld-xxxxxxxxxxxxxxxxxxxxxxxx", thread, i);
    first(a, a * 3 + 1, ~a, thread, text);
    second(a, a * 3 + 1, ~a, thread, text);
    third(a, a * 3 + 1, ~a, thread, text);
    fourth(a, a * 3 + 1, ~a, thread, text);
    PROBE("one_cpu", "turn", "0", "-8@%[a] -8@%[b] -8@%[thread] 8@%[text]", [a] "r"(a),
          [b] "r"(a * 3 + 1), [thread] "r"(thread), [text] "r"(text));
    if (pread(zeros, bytes, 4096 + thread, a) != 4096 + thread) abort();
}

static void* run(void* number) {
    const long thread = (long)number;
    const int zeros = open("/dev/zero", O_RDONLY);
    const struct timespec pause = {0, 50000};
    char text[64], *bytes = malloc(8192);  // stacks are short
    if (thread == THREADS) {
        const struct sched_param priority = {1};
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);  // if it may
    }
    for (long i = 0; i < rounds; i++) {
        turn(thread, i, zeros, text, bytes);
        if (thread == THREADS) nanosleep(&pause, NULL);
    }
    close(zeros);
    free(bytes);
    return NULL;
}

int main(int count, char** words) {
    pthread_t threads[THREADS];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    if (count > 1) rounds = atol(words[1]);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void*)(i + 1));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
