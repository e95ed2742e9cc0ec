// Memory for other processes: a handle can be had, and nobody can open it, since the memory of the
// simulated devices belongs to one process.

#include <unistd.h>

#include <cstring>

#include "api.h"
#include "driver.h"

namespace cuda_sim::api {

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr p) {
    if (CUresult error = context_ready()) return error;
    const auto block = driver().memory.find(p);
    if (!handle || !block || block->family != Family::kDevice) return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t content[] = {static_cast<std::uint64_t>(getpid()), block->address};
    *handle = {};
    std::memcpy(handle->reserved, content, sizeof content);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* out, CUipcMemHandle, unsigned) {
    if (CUresult error = context_ready()) return error;
    return out ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr) {
    if (CUresult error = context_ready()) return error;
    return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cuda_sim::api
