// Fills of memory, and advice about memory, which is taken and changes nothing.

#include <algorithm>

#include "api.h"
#include "driver.h"
#include "work.h"

namespace cuda_sim::api {
namespace {

// `height` rows of `width` elements, `pitch` bytes apart.
template <typename T> CUresult check(CUdeviceptr to, size_t pitch, size_t width, size_t height) {
    if (to % sizeof(T) || (height > 1 && pitch < width * sizeof(T)))
        return CUDA_ERROR_INVALID_VALUE;
    const size_t bytes = (height - 1) * pitch + width * sizeof(T);
    return driver().memory.covers(to, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

template <typename T>
CUresult fill(CUdeviceptr to, size_t pitch, T value, size_t width, size_t height) {
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    if (CUresult error = check<T>(to, pitch, width, height)) return error;
    for (size_t y = 0; y < height; ++y)
        std::fill_n(static_cast<T*>(pointer_to(to + y * pitch)), width, value);
    return CUDA_SUCCESS;
}

template <typename T>
CUresult fill_now(CUdeviceptr to, size_t pitch, T value, size_t width, size_t height) {
    if (CUresult error = context_ready()) return error;
    return fill(to, pitch, value, width, height);
}

template <typename T>
CUresult fill_in_stream(CUdeviceptr to, T value, size_t count, CUstream stream) {
    if (count)
        if (CUresult error = check<T>(to, 0, count, 1)) return error;
    return submit(stream, CU_GRAPH_NODE_TYPE_MEMSET, [=] { return fill(to, 0, value, count, 1); });
}

// Advice and prefetching are for managed memory only.
CUresult is_managed(CUdeviceptr p, size_t bytes) {
    if (CUresult error = context_ready()) return error;
    const auto block = driver().memory.find(p);
    const bool right =
        block && block->family == Family::kManaged && bytes > 0 && driver().memory.covers(p, bytes);
    return right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult prefetch(CUdeviceptr p, size_t bytes, CUstream stream) {
    if (CUresult error = is_managed(p, bytes)) return error;
    return find_stream(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

template <typename T> CUresult prepare_fill(const CUDA_MEMSET_NODE_PARAMS& p, Work& work) {
    if (CUresult error = check<T>(p.dst, p.pitch, p.width, p.height)) return error;
    work = [=] { return fill(p.dst, p.pitch, static_cast<T>(p.value), p.width, p.height); };
    return CUDA_SUCCESS;
}

}  // namespace
}  // namespace cuda_sim::api

namespace cuda_sim {

CUresult prepare(const CUDA_MEMSET_NODE_PARAMS* p, Work& work) {
    if (!p || p->width == 0 || p->height == 0) return CUDA_ERROR_INVALID_VALUE;
    switch (p->elementSize) {
    case 1: return api::prepare_fill<unsigned char>(*p, work);
    case 2: return api::prepare_fill<unsigned short>(*p, work);
    case 4: return api::prepare_fill<unsigned>(*p, work);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

}  // namespace cuda_sim

namespace cuda_sim::api {

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
    return fill_now(to, 0, value, count, 1);
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
    return fill_now(to, 0, value, count, 1);
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
    return fill_now(to, 0, value, count, 1);
}

CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                      size_t height) {
    return fill_now(to, pitch, value, width, height);
}

CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
    return fill_now(to, pitch, value, width, height);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return fill_in_stream(to, value, count, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    return fill_in_stream(to, value, count, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    return fill_in_stream(to, value, count, stream);
}

CUresult cuMemAdvise(CUdeviceptr p, size_t bytes, CUmem_advise, CUdevice) {
    return is_managed(p, bytes);
}

CUresult cuMemAdvise_v2(CUdeviceptr p, size_t bytes, CUmem_advise, CUmemLocation) {
    return is_managed(p, bytes);
}

CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUdevice, CUstream stream) {
    return prefetch(p, bytes, stream);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t bytes, CUmemLocation, unsigned,
                               CUstream stream) {
    return prefetch(p, bytes, stream);
}

}  // namespace cuda_sim::api
