/* loop LIBRARY FUNCTION CALLS [ROUNDS]: calls FUNCTION(i, 2) CALLS times and prints the nanoseconds
 * a call of each round. The sum of the results goes to standard error: the calls were really made.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef uint64_t (*function)(uint64_t, uint64_t, uint64_t);

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void* open_function(const char* library, const char* name) {
    void* handle = dlopen(library, RTLD_NOW);
    void* found = handle == NULL ? NULL : dlsym(handle, name);
    if (found == NULL) {
        fprintf(stderr, "loop: %s\n", dlerror());
        exit(1);
    }
    return found;
}

int main(int argc, char** argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: loop LIBRARY FUNCTION CALLS [ROUNDS]\n");
        return 2;
    }
    function call = (function)open_function(argv[1], argv[2]);
    long calls = atol(argv[3]), rounds = argc > 4 ? atol(argv[4]) : 1;
    uint64_t sum = 0;
    for (long round = 0; round < rounds; round++) {
        double begin = now_ns();
        for (long i = 0; i < calls; i++) sum += call((uint64_t)i, 2, 0);
        printf("%.2f\n", (now_ns() - begin) / (double)calls);
        fflush(stdout);
    }
    fprintf(stderr, "sum %llu\n", (unsigned long long)sum);
    return 0;
}
