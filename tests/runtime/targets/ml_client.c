// Calls the functions of ml_standin.c: ml_client cudart|nccl|cublas|cudnn|hip
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../../rules/types/cublas.h"
#include "../../../rules/types/cudart.h"
#include "../../../rules/types/cudnn.h"
#include "../../../rules/types/hip.h"
#include "../../../rules/types/nccl.h"

cudaError_t cudaMallocAsync_ptsz(void** devPtr, size_t size, cudaStream_t stream);
hipError_t hipMemcpy_spt(void* dst, const void* src, size_t bytes, hipMemcpyKind kind);

#define AT(number) ((void*)(uintptr_t)(number))
static char vector_add, scale;  // what launches name

static void cudart(void) {
    void *a, *b;
    __cudaRegisterFunction(NULL, &vector_add, NULL, "_Z9vectorAddPKfPfi", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterFunction(NULL, &scale, NULL, "scale", -1, NULL, NULL, NULL, NULL, NULL);
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, (size_t)1 << 31);
    cudaMallocAsync_ptsz(&b, 512, AT(0x51));
    cudaMemcpy(a, &a, 300, cudaMemcpyHostToDevice);
    cudaMemcpy(&a, b, 20, cudaMemcpyDeviceToHost);
    dim3 grid = {2, 3, 4}, block = {32, 5, 1};
    cudaLaunchKernel(&vector_add, grid, block, NULL, 48, AT(0x52));
    cudaLaunchConfig_t config = {{7, 1, 1}, {64, 2, 1}, 96, AT(0x53), NULL, 0};
    cudaLaunchKernelExC(&config, &scale, NULL);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaKernel_t kernel;  // as programs do that are built by CUDA 13
    __cudaGetKernel(&kernel, &scale);
    cudaLaunchKernel(kernel, block, grid, NULL, 0, AT(0x54));
    cudaLibraryGetKernel(&kernel, NULL, "_Z4axpyfPKfPf");
    cudaLaunchKernel(kernel, block, grid, NULL, 0, AT(0x54));
}

static void nccl(void) {
    ncclComm_t comm;
    ncclUniqueId id;
    memset(&id, 0x5a, sizeof id);
    ncclCommInitRank(&comm, 4, id, 3);
    ncclAllReduce(AT(16), AT(32), 1000, ncclFloat32, ncclSum, comm, AT(0x61));
    ncclAllReduce(AT(16), AT(32), 1000, ncclBfloat16, ncclAvg, comm, AT(0x61));
    ncclAllReduce(AT(16), AT(32), 0, ncclInt64, ncclMax, comm, AT(0x61));
    ncclReduce(AT(16), AT(32), 11, ncclInt64, ncclMin, 2, comm, AT(0x62));
    ncclBroadcast(AT(16), AT(32), 12, ncclFloat64, 1, comm, AT(0x63));
    ncclReduceScatter(AT(16), AT(32), 13, ncclFloat16, ncclProd, comm, AT(0x64));
    ncclAllGather(AT(16), AT(32), 14, ncclUint8, comm, AT(0x65));
    ncclSend(AT(16), 15, ncclFloat8e5m2, 2, comm, AT(0x66));
    ncclCommDestroy(comm);
}

static void cublas(void) {
    cublasHandle_t handle;
    cublasCreate_v2(&handle);
    cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_T, 10, 20, 30, NULL, NULL, 11, NULL, 21, NULL,
                   NULL, 12);
    cublasGemmStridedBatchedEx_64(handle, CUBLAS_OP_T, CUBLAS_OP_C, 5000000000, 2, 3, NULL, NULL,
                                  CUDA_R_16F, 4, 5, NULL, CUDA_R_16BF, 6, 7, NULL, NULL, CUDA_R_32F,
                                  8, 9, 16, CUBLAS_COMPUTE_32F_FAST_TF32, -1);
    cublasLtMatmul(AT(0x71), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                   NULL, 65536, AT(0x72));
}

static void cudnn(void) {
    cudnnHandle_t handle;
    cudnnCreate(&handle);
    cudnnBackendExecute(handle, AT(0x81), AT(0x82));
    cudnnBackendExecute(handle, NULL, AT(0x82));
    cudnnConvolutionForward(handle, NULL, NULL, NULL, NULL, NULL, NULL,
                            CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, NULL, 1 << 20, NULL, NULL, NULL);
}

static void hip(void) {
    void* block;
    hipFunction_t function;
    __hipRegisterFunction(NULL, &vector_add, NULL, "_Z9vectorAddPKfPfi", -1, NULL, NULL, NULL, NULL,
                          NULL);
    hipModuleGetFunction(&function, AT(0x91), "scale");
    hipMalloc(&block, 8192);
    hipMemcpy_spt(block, &block, 77, hipMemcpyHostToDevice);
    dim3 blocks = {3, 5, 1}, threads = {64, 1, 2};
    hipLaunchKernel(&vector_add, blocks, threads, NULL, 24, AT(0x92));
    hipModuleLaunchKernel(function, 2, 2, 3, 16, 4, 1, 8, AT(0x93), NULL, NULL);
    hipFree(block);
    hipFree(NULL);
}

int main(int argc, char** argv) {
    const char* which = argc == 2 ? argv[1] : "";
    if (strcmp(which, "cudart") == 0)
        cudart();
    else if (strcmp(which, "nccl") == 0)
        nccl();
    else if (strcmp(which, "cublas") == 0)
        cublas();
    else if (strcmp(which, "cudnn") == 0)
        cudnn();
    else if (strcmp(which, "hip") == 0)
        hip();
    else
        return 1;
    return 0;
}
