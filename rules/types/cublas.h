// cuBLAS, as far as rules need it, as its reference describes it. Forms with `_64` have sizes of 64
// bits.
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2
} cublasOperation_t;

typedef enum {
    CUDA_R_32F = 0,
    CUDA_R_64F = 1,
    CUDA_R_16F = 2,
    CUDA_R_8I = 3,
    CUDA_C_32F = 4,
    CUDA_C_64F = 5,
    CUDA_R_8U = 8,
    CUDA_R_32I = 10,
    CUDA_R_16BF = 14,
    CUDA_R_8F_E4M3 = 28,
    CUDA_R_8F_E5M2 = 29,
    CUDA_R_4F_E2M1 = 33
} cudaDataType;

typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;

typedef struct cublasContext *cublasHandle_t;
typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct CUstream_st *cudaStream_t;

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t streamId);

#define MLBCC_GEMM(name, size)                                                                     \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, \
                        size m, size n, size k, const void *alpha, const void *A, size lda,        \
                        const void *B, size ldb, const void *beta, void *C, size ldc);
MLBCC_GEMM(cublasSgemm_v2, int)
MLBCC_GEMM(cublasSgemm_v2_64, int64_t)
MLBCC_GEMM(cublasDgemm_v2, int)
MLBCC_GEMM(cublasDgemm_v2_64, int64_t)
MLBCC_GEMM(cublasHgemm, int)
MLBCC_GEMM(cublasHgemm_64, int64_t)

#define MLBCC_GEMM_EX(name, size)                                                                  \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, \
                        size m, size n, size k, const void *alpha, const void *A,                  \
                        cudaDataType Atype, size lda, const void *B, cudaDataType Btype, size ldb, \
                        const void *beta, void *C, cudaDataType Ctype, size ldc,                   \
                        cublasComputeType_t computeType, int algo);
MLBCC_GEMM_EX(cublasGemmEx, int)
MLBCC_GEMM_EX(cublasGemmEx_64, int64_t)

#define MLBCC_GEMM_STRIDED(name, size)                                                             \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, \
                        size m, size n, size k, const void *alpha, const void *A, size lda,        \
                        long long strideA, const void *B, size ldb, long long strideB,             \
                        const void *beta, void *C, size ldc, long long strideC, size batchCount);
MLBCC_GEMM_STRIDED(cublasSgemmStridedBatched, int)
MLBCC_GEMM_STRIDED(cublasSgemmStridedBatched_64, int64_t)

#define MLBCC_GEMM_STRIDED_EX(name, size)                                                          \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, \
                        size m, size n, size k, const void *alpha, const void *A,                  \
                        cudaDataType Atype, size lda, long long strideA, const void *B,            \
                        cudaDataType Btype, size ldb, long long strideB, const void *beta,         \
                        void *C, cudaDataType Ctype, size ldc, long long strideC, size batchCount, \
                        cublasComputeType_t computeType, int algo);
MLBCC_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, int)
MLBCC_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t)

cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, void *computeDesc, const void *alpha,
                              const void *A, void *Adesc, const void *B, void *Bdesc,
                              const void *beta, const void *C, void *Cdesc, void *D, void *Ddesc,
                              const void *algo, void *workspace, size_t workspaceSizeInBytes,
                              cudaStream_t stream);
