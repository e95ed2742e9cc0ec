/* flood THREADS CALLS [SECONDS [RATE]]: each thread calls hit(thread, i) CALLS times, or, with
 * CALLS 0, for SECONDS, or until SIGTERM; at most RATE a second. Prints the number of calls made.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint64_t hit(int thread, uint64_t i) {
    return (uint64_t)thread + i;
}

static volatile sig_atomic_t stopped;

static void stop(int number) {
    (void)number;
    stopped = 1;
}

static uint64_t calls_each;
static double seconds, rate;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t run_for_a_time(int thread) {
    uint64_t i = 0;
    double begin = now(), end = begin + seconds;
    for (double t = begin; t < end && !stopped; t = now()) {
        uint64_t due = rate > 0 ? (uint64_t)((t - begin) * rate) : i + 100;
        while (i < due) hit(thread, i++);
    }
    return i;
}

static void* run(void* number) {
    int thread = (int)(intptr_t)number;
    uint64_t i = 0;
    while (i < calls_each) hit(thread, i++);
    if (calls_each == 0) i = run_for_a_time(thread);
    return (void*)(uintptr_t)i;
}

int main(int argc, char** argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    calls_each = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    seconds = argc > 3 ? atof(argv[3]) : 1;
    rate = argc > 4 ? atof(argv[4]) : 0;
    signal(SIGTERM, stop);
    pthread_t* ids = calloc((size_t)threads, sizeof *ids);
    for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, run, (void*)(intptr_t)i);
    uint64_t total = 0;
    for (int i = 0; i < threads; i++) {
        void* made;
        pthread_join(ids[i], &made);
        total += (uintptr_t)made;
    }
    printf("%llu\n", (unsigned long long)total);
    free(ids);
    return 0;
}
