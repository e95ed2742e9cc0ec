// Stands in for NVIDIA's runtime under decode_step: what its mix of calls needs. Nothing is
// computed.
#include "../../rules/types/cudart.h"

#define UNUSED __attribute__((unused))

cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* func UNUSED, dim3 gridDim UNUSED, dim3 blockDim UNUSED,
                             void** args UNUSED, size_t sharedMem UNUSED,
                             cudaStream_t stream UNUSED) {
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void) {
    return cudaSuccess;
}
