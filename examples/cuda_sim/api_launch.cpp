// Launches of kernels and of functions of the host.

#include "api.h"
#include "driver.h"
#include "work.h"

namespace cuda_sim::api {
namespace {

CUresult launch(CUfunction handle, const Grid& grid, CUstream stream, void** params, void** extra) {
    if (CUresult error = context_ready()) return error;
    const CUfunction function = find_function(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (grid.shared_bytes > static_cast<unsigned>(function->max_dynamic_shared))
        return CUDA_ERROR_INVALID_VALUE;
    const KernelCall call(*function->kernel, grid, params, extra);
    if (!call.valid()) return CUDA_ERROR_INVALID_VALUE;
    if (!find_stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
    driver().books.launched();
    return submit(stream, CU_GRAPH_NODE_TYPE_KERNEL, [=] { return run_kernel(call); });
}

}  // namespace

CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** params, void** extra) {
    return launch(f, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes}, stream,
                  params, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction f, void** params, void** extra) {
    if (!c) return CUDA_ERROR_INVALID_VALUE;
    const Grid grid{{c->gridDimX, c->gridDimY, c->gridDimZ},
                    {c->blockDimX, c->blockDimY, c->blockDimZ},
                    c->sharedMemBytes};
    return launch(f, grid, c->hStream, params, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z,
                                   unsigned shared_bytes, CUstream stream, void** params) {
    const Grid grid{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
    // All blocks of a cooperative launch are on the device at the same time.
    if (grid.threads.volume() * grid.blocks.volume() >
        std::uint64_t{kMultiprocessors} * kThreadsPerMultiprocessor)
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return launch(f, grid, stream, params, nullptr);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    return submit(stream, CU_GRAPH_NODE_TYPE_HOST, [=] {
        function(data);
        return CUDA_SUCCESS;
    });
}

}  // namespace cuda_sim::api
