/* decode_step driver|runtime SECONDS: steps of a language model's decoding, as a framework asks for
 * them: 128 launches in 3.4 ms, and for each the calls that only ask. How many of which was
 * measured with torch on a real GPU; with `driver` of libcuda.so.1, with `runtime` of
 * libcudart.so.13. Between the calls it computes for a fixed time. Prints a line a step: when it
 * ended (CLOCK_MONOTONIC, s) and how long it took (ms). */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kLaunches = 128, kSynchronizes = 20 /* steps */ };
static const double kWork = 24e-6; /* s, of a launch: the framework's own */

typedef void* handle;
struct step {
    double end, ms;
};

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry empty_kernel(.param .u64 a)\n{ ret; }\n";

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void work(void) {
    double end = now() + kWork;
    while (now() < end) {
    }
}

static void* library;

static void open_library(const char* name) {
    library = dlopen(name, RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
}

static void* function(const char* name) {
    void* found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "%s is missing\n", name);
        exit(1);
    }
    return found;
}

static void check(int result, const char* what) {
    if (result != 0) {
        fprintf(stderr, "%s returned %d\n", what, result);
        exit(1);
    }
}

/* A launch's turn comes once in `every`. */
static int turn(int launch, int every) {
    return launch % every == 0;
}

struct launch_config { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared;
    handle stream;
    void* attributes;
    unsigned attribute_count;
};

static int (*cuCtxGetDevice)(int*), (*cuDevicePrimaryCtxGetState)(int, unsigned*, int*);
static int (*cuCtxGetCurrent)(handle*), (*cuDriverGetVersion)(int*), (*cuCtxGetLimit)(size_t*, int);
static int (*cuStreamIsCapturing)(handle, int*), (*cuDeviceGet)(int*, int),
    (*cuCtxSynchronize)(void);
static int (*cuFuncGetAttribute)(int*, int, handle),
    (*cuMemsetD8Async)(uint64_t, unsigned char, size_t, handle);
static int (*cuLaunchKernelEx)(const struct launch_config*, handle, void**, void**);
static int (*cuLaunchKernel)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, handle, void**, void**);
static handle kernel;
static uint64_t memory;

static void begin_driver(void) {
    open_library("libcuda.so.1");
    cuCtxGetDevice = function("cuCtxGetDevice");
    cuDevicePrimaryCtxGetState = function("cuDevicePrimaryCtxGetState");
    cuCtxGetCurrent = function("cuCtxGetCurrent");
    cuDriverGetVersion = function("cuDriverGetVersion");
    cuCtxGetLimit = function("cuCtxGetLimit");
    cuStreamIsCapturing = function("cuStreamIsCapturing");
    cuDeviceGet = function("cuDeviceGet");
    cuCtxSynchronize = function("cuCtxSynchronize");
    cuFuncGetAttribute = function("cuFuncGetAttribute");
    cuMemsetD8Async = function("cuMemsetD8Async");
    cuLaunchKernelEx = function("cuLaunchKernelEx");
    cuLaunchKernel = function("cuLaunchKernel");
    int (*cuInit)(unsigned) = function("cuInit");
    int (*cuDevicePrimaryCtxRetain)(handle*, int) = function("cuDevicePrimaryCtxRetain");
    int (*cuCtxSetCurrent)(handle) = function("cuCtxSetCurrent");
    int (*cuModuleLoadData)(handle*, const void*) = function("cuModuleLoadData");
    int (*cuModuleGetFunction)(handle*, handle, const char*) = function("cuModuleGetFunction");
    int (*cuMemAlloc)(uint64_t*, size_t) = function("cuMemAlloc_v2");
    int device;
    handle context, module;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
    check(cuModuleGetFunction(&kernel, module, "empty_kernel"), "cuModuleGetFunction");
    check(cuMemAlloc(&memory, 4096), "cuMemAlloc");
}

static void launch_by_driver(int launch) {
    int device, state, version, capturing, attribute;
    unsigned flags;
    handle context;
    size_t limit;
    for (int i = 0; i < 14; i++) cuCtxGetDevice(&device);
    for (int i = 0; i < (turn(launch, 5) ? 5 : 3); i++)
        cuDevicePrimaryCtxGetState(0, &flags, &state);
    if (!turn(launch, 10)) cuCtxGetCurrent(&context);
    if (!turn(launch, 4)) cuFuncGetAttribute(&attribute, 0, kernel);
    if (turn(launch, 5)) {
        cuDriverGetVersion(&version);
        cuCtxGetLimit(&limit, 0);
    }
    if (turn(launch, 10)) {
        cuStreamIsCapturing(NULL, &capturing);
        cuMemsetD8Async(memory, 0, 4096, NULL);
        cuDeviceGet(&device, 0);
    }
    uint64_t argument = 0;
    void* arguments[] = {&argument};
    struct launch_config config = {{1, 1, 1}, {32, 1, 1}, 0, NULL, NULL, 0};
    if (launch % 20 < 11) {
        check(cuLaunchKernelEx(&config, kernel, arguments, NULL), "cuLaunchKernelEx");
    } else {
        check(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL),
              "cuLaunchKernel");
    }
}

static void wait_for_driver(void) {
    check(cuCtxSynchronize(), "cuCtxSynchronize");
}

struct dim3 {
    unsigned x, y, z;
};
static int (*cudaGetDevice)(int*), (*cudaDeviceSynchronize)(void);
static int (*cudaLaunchKernel)(const void*, struct dim3, struct dim3, void**, size_t, handle);

static void begin_runtime(void) {
    open_library("libcudart.so.13");
    cudaGetDevice = function("cudaGetDevice");
    cudaDeviceSynchronize = function("cudaDeviceSynchronize");
    cudaLaunchKernel = function("cudaLaunchKernel");
}

static void launch_by_runtime(int launch) {
    (void)launch;
    int device;
    for (int i = 0; i < 24; i++) cudaGetDevice(&device); /* 96 % of all calls */
    struct dim3 one = {1, 1, 1};
    check(cudaLaunchKernel((const void*)&begin_runtime, one, one, NULL, 0, NULL),
          "cudaLaunchKernel");
}

static void wait_for_runtime(void) {
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

static const struct kind {
    void (*begin)(void), (*launch)(int), (*wait)(void);
} by_driver = {begin_driver, launch_by_driver, wait_for_driver},
  by_runtime = {begin_runtime, launch_by_runtime, wait_for_runtime};

int main(int argc, char** argv) {
    const struct kind* kind = argc > 1 && strcmp(argv[1], "driver") == 0 ? &by_driver : &by_runtime;
    double seconds = argc > 2 ? atof(argv[2]) : 1;
    size_t room = (size_t)(seconds * 1000) + 1, made = 0;
    struct step* steps = calloc(room, sizeof *steps);
    kind->begin();
    double begin = now(), last = begin;
    while (last < begin + seconds && made < room) {
        for (int i = 0; i < kLaunches; i++) {
            kind->launch(i);
            work();
        }
        if (made % kSynchronizes == 0) kind->wait();
        double end = now();
        steps[made++] = (struct step){end, (end - last) * 1e3};
        last = end;
    }
    for (size_t i = 0; i < made; i++) printf("%.6f %.4f\n", steps[i].end, steps[i].ms);
    return 0;
}
