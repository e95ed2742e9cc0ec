/* Calls functions of a CUDA driver library, each once with known arguments, and prints one line of
 * JSON a call:
 *
 *   {"call":"cuMemAlloc_v2","args":{"dptr":"0x7ffd5c0","bytesize":4096},"ret":34}
 *
 *   stub_client LIBRARY            the calls below, in that order
 *   stub_client LIBRARY --loop N   cuInit, then cuDriverGetVersion N times
 *
 * Handles are made-up numbers, so it is for libraries that have no device behind them: the
 * toolkit's stub library, a driver library on a machine without a GPU, the simulated driver. Exit
 * status: 0, 1 if the library cannot be loaded, 2 for wrong usage. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../rules/types/cuda_driver.h"

enum { kDevicePointer = 0x20000, kCopyBytes = 64 };

static CUfunction const kFunction = (CUfunction)0x3000;
static CUstream const kStream = (CUstream)0x4000;
static CUmodule const kModule = (CUmodule)0x5000;

static char host_memory[kCopyBytes];

/* Declares `call`, the function `symbol` of `library` with the type of the prototype; returns where
 * it is missing. */
#define FUNCTION(prototype, symbol)                                                                \
    __typeof__(prototype)* call;                                                                   \
    *(void**)&call = dlsym(library, symbol);                                                       \
    if (!call) {                                                                                   \
        printf("{\"call\":\"%s\",\"missing\":true}\n", symbol);                                    \
        return;                                                                                    \
    }                                                                                              \
    const char* const name = symbol

/* Prints the line of a call; `args` is a format for what stands between the braces of "args". */
#define PRINT(ret, args, ...)                                                                      \
    printf("{\"call\":\"%s\",\"args\":{" args "},\"ret\":%d}\n", name, __VA_ARGS__, (int)(ret))

static void init(void* library) {
    FUNCTION(cuInit, "cuInit");
    PRINT(call(0), "\"Flags\":%d", 0);
}

static void driver_get_version(void* library) {
    FUNCTION(cuDriverGetVersion, "cuDriverGetVersion");
    int version = 0;
    PRINT(call(&version), "\"driverVersion\":\"%p\"", (void*)&version);
}

static void device_get(void* library) {
    FUNCTION(cuDeviceGet, "cuDeviceGet");
    CUdevice device = -1;
    PRINT(call(&device, 0), "\"device\":\"%p\",\"ordinal\":%d", (void*)&device, 0);
}

static void device_get_attribute(void* library) {
    FUNCTION(cuDeviceGetAttribute, "cuDeviceGetAttribute");
    int value = 0;
    PRINT(call(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
          "\"pi\":\"%p\",\"attrib\":\"CU_DEVICE_ATTRIBUTE_WARP_SIZE\",\"dev\":%d", (void*)&value,
          0);
}

static void ctx_create(void* library) {
    FUNCTION(cuCtxCreate, "cuCtxCreate_v2");
    CUcontext context = NULL;
    PRINT(call(&context, 8, 0), "\"pctx\":\"%p\",\"flags\":%d,\"dev\":%d", (void*)&context, 8, 0);
}

static void module_get_function(void* library) {
    FUNCTION(cuModuleGetFunction, "cuModuleGetFunction");
    CUfunction function = NULL;
    PRINT(call(&function, kModule, "my_kernel"),
          "\"hfunc\":\"%p\",\"hmod\":\"%p\",\"name\":\"my_kernel\"", (void*)&function,
          (void*)kModule);
}

static void mem_alloc(void* library) {
    FUNCTION(cuMemAlloc, "cuMemAlloc_v2");
    CUdeviceptr pointer = 0;
    PRINT(call(&pointer, 4096), "\"dptr\":\"%p\",\"bytesize\":%d", (void*)&pointer, 4096);
}

static void memcpy_htod(void* library) {
    FUNCTION(cuMemcpyHtoD, "cuMemcpyHtoD_v2");
    PRINT(call(kDevicePointer, host_memory, kCopyBytes),
          "\"dstDevice\":\"%#x\",\"srcHost\":\"%p\",\"ByteCount\":%d", kDevicePointer,
          (void*)host_memory, kCopyBytes);
}

static void memcpy_htod_async(void* library) {
    FUNCTION(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2_ptsz");
    PRINT(call(kDevicePointer, host_memory, kCopyBytes, kStream),
          "\"dstDevice\":\"%#x\",\"srcHost\":\"%p\",\"ByteCount\":%d,\"hStream\":\"%p\"",
          kDevicePointer, (void*)host_memory, kCopyBytes, (void*)kStream);
}

/* Parameters narrower than a register. */
static void memset_d8(void* library) {
    FUNCTION(cuMemsetD8, "cuMemsetD8_v2");
    PRINT(call(kDevicePointer, 200, 256), "\"dstDevice\":\"%#x\",\"uc\":%d,\"N\":%d",
          kDevicePointer, 200, 256);
}

static void memset_d16(void* library) {
    FUNCTION(cuMemsetD16, "cuMemsetD16_v2");
    PRINT(call(kDevicePointer, 0xbeef, 128), "\"dstDevice\":\"%#x\",\"us\":%d,\"N\":%d",
          kDevicePointer, 0xbeef, 128);
}

/* A structure of 8 bytes by value, which takes one register. */
static void mem_prefetch(void* library) {
    FUNCTION(cuMemPrefetchAsync_v2, "cuMemPrefetchAsync_v2");
    const CUmemLocation location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 5};
    PRINT(call(kDevicePointer, 4096, location, 0, kStream),
          "\"devPtr\":\"%#x\",\"count\":%d,\"location\":{\"type\":3,\"id\":5},\"flags\":0,"
          "\"hStream\":\"%p\"",
          kDevicePointer, 4096, (void*)kStream);
}

/* Eleven parameters, five of them on the stack on x86-64. */
static void launch_kernel(void* library) {
    FUNCTION(cuLaunchKernel, "cuLaunchKernel");
    void* params[] = {host_memory};
    PRINT(call(kFunction, 1, 2, 3, 4, 5, 6, 7, kStream, params, NULL),
          "\"f\":\"%p\",\"gridDimX\":1,\"gridDimY\":2,\"gridDimZ\":3,\"blockDimX\":4,\"blockDimY\":"
          "5,\"blockDimZ\":6,"
          "\"sharedMemBytes\":7,\"hStream\":\"%p\",\"kernelParams\":\"%p\",\"extra\":\"0x0\"",
          (void*)kFunction, (void*)kStream, (void*)params);
}

static void launch_kernel_ex(void* library) {
    FUNCTION(cuLaunchKernelEx, "cuLaunchKernelEx");
    const CUlaunchConfig config = {.gridDimX = 11,
                                   .gridDimY = 12,
                                   .gridDimZ = 13,
                                   .blockDimX = 14,
                                   .blockDimY = 15,
                                   .blockDimZ = 16,
                                   .sharedMemBytes = 17,
                                   .hStream = kStream};
    void* params[] = {host_memory};
    PRINT(call(&config, kFunction, params, NULL),
          "\"config\":\"%p\",\"f\":\"%p\",\"kernelParams\":\"%p\",\"extra\":\"0x0\"",
          (const void*)&config, (void*)kFunction, (void*)params);
}

static void stream_synchronize(void* library) {
    FUNCTION(cuStreamSynchronize, "cuStreamSynchronize");
    PRINT(call(kStream), "\"hStream\":\"%p\"", (void*)kStream);
}

static void mem_free(void* library) {
    FUNCTION(cuMemFree, "cuMemFree_v2");
    PRINT(call(kDevicePointer), "\"dptr\":\"%#x\"", kDevicePointer);
}

static void ctx_synchronize(void* library) {
    FUNCTION(cuCtxSynchronize, "cuCtxSynchronize");
    PRINT(call(), "%s", "");
}

static void (*const kCalls[])(void* library) = {
    init,
    driver_get_version,
    device_get,
    device_get_attribute,
    ctx_create,
    module_get_function,
    mem_alloc,
    memcpy_htod,
    memcpy_htod_async,
    memset_d8,
    memset_d16,
    mem_prefetch,
    launch_kernel,
    launch_kernel_ex,
    stream_synchronize,
    mem_free,
    ctx_synchronize,
};

/* {"call":"cuDriverGetVersion","count":100000,"ret":0}, with what the last call returned */
static void loop(void* library, long count) {
    FUNCTION(cuDriverGetVersion, "cuDriverGetVersion");
    CUresult ret = CUDA_SUCCESS;
    int version = 0;
    for (long i = 0; i < count; ++i) ret = call(&version);
    printf("{\"call\":\"%s\",\"count\":%ld,\"ret\":%d}\n", name, count, (int)ret);
}

int main(int argc, char** argv) {
    const int is_loop = argc == 4 && strcmp(argv[2], "--loop") == 0;
    char* end = NULL;
    const long count = is_loop ? strtol(argv[3], &end, 10) : 0;
    if ((argc != 2 && !is_loop) || (is_loop && (*end || end == argv[3] || count < 0))) {
        fprintf(stderr, "usage: stub_client LIBRARY [--loop N]\n");
        return 2;
    }
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "stub_client: %s\n", dlerror());
        return 1;
    }
    if (is_loop) {
        init(library);
        loop(library, count);
        return 0;
    }
    for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; ++i) kCalls[i](library);
    return 0;
}
