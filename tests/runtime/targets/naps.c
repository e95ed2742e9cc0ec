// Threads that sleep often and shortly. Prints for each its id, how often it gave way by itself, as
// the kernel counts it, and for how long it did not run, in nanoseconds, by its own clocks.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

enum { THREADS = 6, NAPS = 4000 };

static struct { long id, gave_way, off_ns; } said[THREADS];
static atomic_int ended;

static long gave_way(void) {
    char line[256];
    long times = -1;
    FILE* status = fopen("/proc/thread-self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &times) == 1) break;
    }
    if (status) fclose(status);
    return times;
}

static long ran_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return at.tv_sec * 1000000000L + at.tv_nsec;
}

static void* nap(void* number) {
    long me = (long)number, begin = now(), ran = ran_ns();
    for (int i = 0; i < NAPS; ++i) usleep(300 + i % 7 * 50);
    said[me].off_ns = now() - begin - (ran_ns() - ran);
    said[me].id = syscall(SYS_gettid);
    said[me].gave_way = gave_way();
    ++ended;
    while (ended) continue;  // no thread gives way again
    return number;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], 0, nap, (void*)i);
    while (ended < THREADS) pause_ms(1);
    for (int i = 0; i < THREADS; ++i)
        dprintf(1, "%ld %ld %ld\n", said[i].id, said[i].gave_way, said[i].off_ns);
    _exit(0);
}
