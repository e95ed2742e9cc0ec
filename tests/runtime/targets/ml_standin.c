// Stands in for the libraries of NVIDIA and AMD whose functions the shipped rules are about: the
// same names and parameters, and results that say which call it was. Nothing is computed.
#include <stdint.h>
#include <string.h>

#include "../../../rules/types/cublas.h"
#include "../../../rules/types/cudart.h"
#include "../../../rules/types/cudnn.h"
#include "../../../rules/types/hip.h"
#include "../../../rules/types/nccl.h"

#define UNUSED __attribute__((unused))

static uintptr_t next_address = 0x7f0000001000;
static void* new_block(void) {
    next_address += 0x1000;
    return (void*)next_address;
}

// ---- the CUDA runtime

void __cudaRegisterFunction(void** cubin UNUSED, const void* host UNUSED, char* device UNUSED,
                            const char* name UNUSED, int limit UNUSED, void* tid UNUSED,
                            void* bid UNUSED, void* block UNUSED, void* grid UNUSED,
                            int* warp UNUSED) {}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host UNUSED) {
    *kernel = new_block();
    return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library UNUSED,
                                 const char* name UNUSED) {
    *kernel = new_block();
    return cudaSuccess;
}
cudaError_t cudaMalloc(void** devPtr, size_t size) {
    if (size > 1 << 30) return cudaErrorMemoryAllocation;
    *devPtr = new_block();
    return cudaSuccess;
}
cudaError_t cudaMallocAsync_ptsz(void** devPtr, size_t size UNUSED, cudaStream_t stream UNUSED) {
    *devPtr = new_block();
    return cudaSuccess;
}
cudaError_t cudaFree(void* devPtr UNUSED) {
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void* dst UNUSED, const void* src UNUSED, size_t count UNUSED,
                       enum cudaMemcpyKind kind UNUSED) {
    return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* func UNUSED, dim3 gridDim UNUSED, dim3 blockDim UNUSED,
                             void** args UNUSED, size_t sharedMem UNUSED,
                             cudaStream_t stream UNUSED) {
    return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config UNUSED, const void* func UNUSED,
                                void** args UNUSED) {
    return cudaErrorInvalidDeviceFunction;
}
cudaError_t cudaDeviceSynchronize(void) {
    return cudaSuccess;
}

// ---- NCCL

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks UNUSED, ncclUniqueId id UNUSED,
                              int rank UNUSED) {
    *comm = new_block();
    return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm UNUSED) {
    return ncclSuccess;
}
ncclResult_t ncclAllReduce(const void* send UNUSED, void* receive UNUSED, size_t count,
                           ncclDataType_t type UNUSED, ncclRedOp_t op UNUSED,
                           ncclComm_t comm UNUSED, cudaStream_t stream UNUSED) {
    return count == 0 ? ncclInvalidArgument : ncclSuccess;
}
ncclResult_t ncclReduce(const void* send UNUSED, void* receive UNUSED, size_t count UNUSED,
                        ncclDataType_t type UNUSED, ncclRedOp_t op UNUSED, int root UNUSED,
                        ncclComm_t comm UNUSED, cudaStream_t stream UNUSED) {
    return ncclSuccess;
}
ncclResult_t ncclBroadcast(const void* send UNUSED, void* receive UNUSED, size_t count UNUSED,
                           ncclDataType_t type UNUSED, int root UNUSED, ncclComm_t comm UNUSED,
                           cudaStream_t stream UNUSED) {
    return ncclSuccess;
}
ncclResult_t ncclReduceScatter(const void* send UNUSED, void* receive UNUSED, size_t count UNUSED,
                               ncclDataType_t type UNUSED, ncclRedOp_t op UNUSED,
                               ncclComm_t comm UNUSED, cudaStream_t stream UNUSED) {
    return ncclSuccess;
}
ncclResult_t ncclAllGather(const void* send UNUSED, void* receive UNUSED, size_t count UNUSED,
                           ncclDataType_t type UNUSED, ncclComm_t comm UNUSED,
                           cudaStream_t stream UNUSED) {
    return ncclSuccess;
}
ncclResult_t ncclSend(const void* send UNUSED, size_t count UNUSED, ncclDataType_t type UNUSED,
                      int peer UNUSED, ncclComm_t comm UNUSED, cudaStream_t stream UNUSED) {
    return ncclSuccess;
}

// ---- cuBLAS and cuDNN

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    *handle = new_block();
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle UNUSED, cublasOperation_t transa UNUSED,
                              cublasOperation_t transb UNUSED, int m UNUSED, int n UNUSED,
                              int k UNUSED, const void* alpha UNUSED, const void* A UNUSED,
                              int lda UNUSED, const void* B UNUSED, int ldb UNUSED,
                              const void* beta UNUSED, void* C UNUSED, int ldc UNUSED) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle UNUSED, cublasOperation_t transa UNUSED, cublasOperation_t transb UNUSED,
    int64_t m UNUSED, int64_t n UNUSED, int64_t k UNUSED, const void* alpha UNUSED,
    const void* A UNUSED, cudaDataType Atype UNUSED, int64_t lda UNUSED, long long strideA UNUSED,
    const void* B UNUSED, cudaDataType Btype UNUSED, int64_t ldb UNUSED, long long strideB UNUSED,
    const void* beta UNUSED, void* C UNUSED, cudaDataType Ctype UNUSED, int64_t ldc UNUSED,
    long long strideC UNUSED, int64_t batchCount UNUSED, cublasComputeType_t compute UNUSED,
    int algo UNUSED) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle UNUSED, void* desc UNUSED,
                              const void* alpha UNUSED, const void* A UNUSED, void* Adesc UNUSED,
                              const void* B UNUSED, void* Bdesc UNUSED, const void* beta UNUSED,
                              const void* C UNUSED, void* Cdesc UNUSED, void* D UNUSED,
                              void* Ddesc UNUSED, const void* algo UNUSED, void* workspace UNUSED,
                              size_t bytes UNUSED, cudaStream_t stream UNUSED) {
    return CUBLAS_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
    *handle = new_block();
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle UNUSED, void* plan, void* pack UNUSED) {
    return plan == NULL ? CUDNN_STATUS_BAD_PARAM_NULL_POINTER : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle UNUSED, const void* alpha UNUSED,
                                      void* xDesc UNUSED, const void* x UNUSED, void* wDesc UNUSED,
                                      const void* w UNUSED, void* convDesc UNUSED,
                                      cudnnConvolutionFwdAlgo_t algo UNUSED, void* space UNUSED,
                                      size_t bytes UNUSED, const void* beta UNUSED,
                                      void* yDesc UNUSED, void* y UNUSED) {
    return CUDNN_STATUS_SUCCESS;
}

// ---- HIP

void __hipRegisterFunction(void** modules UNUSED, const void* host UNUSED, char* device UNUSED,
                           const char* name UNUSED, unsigned int limit UNUSED, void* tid UNUSED,
                           void* bid UNUSED, void* block UNUSED, void* grid UNUSED,
                           int* warp UNUSED) {}
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module UNUSED,
                                const char* name UNUSED) {
    *function = new_block();
    return hipSuccess;
}
hipError_t hipMalloc(void** ptr, size_t size UNUSED) {
    *ptr = new_block();
    return hipSuccess;
}
hipError_t hipFree(void* ptr) {
    return ptr == NULL ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipMemcpy_spt(void* dst UNUSED, const void* src UNUSED, size_t bytes UNUSED,
                         hipMemcpyKind kind UNUSED) {
    return hipSuccess;
}
hipError_t hipLaunchKernel(const void* function UNUSED, dim3 blocks UNUSED, dim3 threads UNUSED,
                           void** args UNUSED, size_t shared UNUSED, hipStream_t stream UNUSED) {
    return hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t f UNUSED, unsigned int gx UNUSED,
                                 unsigned int gy UNUSED, unsigned int gz UNUSED,
                                 unsigned int bx UNUSED, unsigned int by UNUSED,
                                 unsigned int bz UNUSED, unsigned int shared UNUSED,
                                 hipStream_t stream UNUSED, void** params UNUSED,
                                 void** extra UNUSED) {
    return hipSuccess;
}
