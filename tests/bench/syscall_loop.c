/* syscall_loop CALLS WORK: as many calls of getppid(), each with some work behind it; prints the
 * nanoseconds that one round takes, of batches of 1000 the tenth percentile: other programs run
 * too. The work stays in a register: a chain of stores and loads takes half as long again on some
 * CPUs once it has been away in the kernel for a little longer, whoever listens there. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 1000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int order(const void* a, const void* b) {
    double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

int main(int argc, char** argv) {
    long batches = (argc > 1 ? atol(argv[1]) : 0) / BATCH + 1, work = argc > 2 ? atol(argv[2]) : 0;
    double* times = calloc((size_t)batches, sizeof *times);
    unsigned long sum = 1;
    for (long batch = 0; batch < batches; batch++) {
        double begin = now();
        for (int call = 0; call < BATCH; call++) {
            syscall(SYS_getppid);
            for (long i = 0; i < work; i++) {
                sum = sum * 3 + 1;
                __asm__ volatile("" : "+r"(sum));
            }
        }
        times[batch] = (now() - begin) / BATCH;
    }
    qsort(times, (size_t)batches, sizeof *times, order);
    printf("%.1f\n", times[batches / 10]);
    return 0;
}
