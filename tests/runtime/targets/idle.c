/* idle LIBRARY: launches kernels and spends the time between the launches in known ways, by its own
 * clock: asleep, computing, reading a pipe, waiting for a lock, launching at once. Prints the
 * nanoseconds of each by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../../../rules/types/cuda_driver.h"
#include "clock.h"

static const char kKernels[] = "cuda_sim image\nnothing\n";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pipe_ends[2];
static int will_wait; /* the main thread, in what it does next */
static pthread_barrier_t together;
static __typeof__(cuLaunchKernel)* launch_kernel;
static CUfunction kernel;

static void check(int result, const char* what) {
    if (result == 0) return;
    fprintf(stderr, "idle: %s returned %d\n", what, result);
    exit(1);
}

static void launch(void) {
    check(launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
}

static void sleep_for_30_ms(void) {
    pause_ms(30);
}

static void compute_for_20_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    long until = t.tv_sec * 1000000000L + t.tv_nsec + 20000000;
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (t.tv_sec * 1000000000L + t.tv_nsec < until);
}

static void read_for_25_ms(void) {
    char byte;
    __atomic_store_n(&will_wait, 1, __ATOMIC_SEQ_CST);
    if (read(pipe_ends[0], &byte, 1) != 1) exit(1);
}

static void wait_for_the_lock(void) {
    __atomic_store_n(&will_wait, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

/* However busy the machine is: the main thread has said that it will, and sleeps. */
static void until_it_waits(void) {
    char path[64], text[512];
    while (!__atomic_load_n(&will_wait, __ATOMIC_SEQ_CST)) pause_ms(1);
    __atomic_store_n(&will_wait, 0, __ATOMIC_SEQ_CST);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
    for (;; pause_ms(1)) {
        FILE* file = fopen(path, "r");
        size_t got = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
        if (file != NULL) fclose(file);
        text[got] = 0;
        char* name_end = strrchr(text, ')');
        if (name_end != NULL && name_end[1] == ' ' && name_end[2] == 'S') return;
    }
}

/* Writes to the pipe late, and holds the lock for long. */
static void* helper(void* unused) {
    prctl(PR_SET_NAME, "helper");
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&together);
    until_it_waits();
    pause_ms(25);
    if (write(pipe_ends[1], "x", 1) != 1) exit(1);
    until_it_waits();
    pause_ms(15);
    pthread_mutex_unlock(&lock);
    return unused;
}

#define FIND(name) __typeof__(name)* find_##name = (__typeof__(name)*)dlsym(library, #name)

static void start(const char* path) {
    void* library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "idle: %s\n", dlerror());
        exit(1);
    }
    FIND(cuInit);
    __typeof__(cuCtxCreate)* create_context =
        (__typeof__(cuCtxCreate)*)dlsym(library, "cuCtxCreate_v2");
    FIND(cuModuleLoadData);
    FIND(cuModuleGetFunction);
    launch_kernel = (__typeof__(cuLaunchKernel)*)dlsym(library, "cuLaunchKernel");
    CUcontext context;
    CUmodule module;
    check(find_cuInit(0), "cuInit");
    check(create_context(&context, 0, 0), "cuCtxCreate");
    check(find_cuModuleLoadData(&module, kKernels), "cuModuleLoadData");
    check(find_cuModuleGetFunction(&kernel, module, "nothing"), "cuModuleGetFunction");
}

/* `spend`, and the launch at its end. */
static long gap(void (*spend)(void)) {
    long begin = now();
    if (spend != NULL) spend();
    long end = now();
    launch();
    return end - begin;
}

int main(int argc, char** argv) {
    pthread_t thread;
    if (argc < 2 || pipe(pipe_ends) != 0) return 2;
    start(argv[1]);
    pthread_barrier_init(&together, 0, 2);
    pthread_create(&thread, 0, helper, 0);
    pthread_barrier_wait(&together);
    launch();
    long asleep = gap(sleep_for_30_ms);
    long computing = gap(compute_for_20_ms);
    long reading = gap(read_for_25_ms);
    long waiting = gap(wait_for_the_lock);
    long nothing = gap(NULL);
    pthread_join(thread, 0);
    printf("{\"sleep\": %ld, \"compute\": %ld, \"read\": %ld, \"lock\": %ld, \"nothing\": %ld}\n",
           asleep, computing, reading, waiting, nothing);
    return 0;
}
