// Allocation in the order of a stream, from pools.

#include <cstring>

#include "api.h"
#include "driver.h"

namespace cuda_sim::api {
namespace {

CUresult known(CUmemoryPool pool) {
    if (CUresult error = initialized()) return error;
    return driver().pools.has(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The first three attributes are int, the others 64 bits wide.
bool is_int(CUmemPool_attribute attribute) {
    return attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

bool is_settable(CUmemPool_attribute attribute) {
    return attribute <= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
}

void add_use(CUmemoryPool pool, size_t bytes) {
    for (auto [current, high] :
         {std::pair{CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH},
          std::pair{CU_MEMPOOL_ATTR_USED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_HIGH}}) {
        const auto now = pool->attributes[current] += bytes;
        if (now > pool->attributes[high]) pool->attributes[high] = now;
    }
}

void drop_use(CUmemoryPool pool, size_t bytes) {
    pool->attributes[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT] -= bytes;
    pool->attributes[CU_MEMPOOL_ATTR_USED_MEM_CURRENT] -= bytes;
}

CUresult check_stream(CUstream handle) {
    CUstream stream = find_stream(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    std::lock_guard hold(stream->lock);
    return stream->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

}  // namespace

// Not while the stream is captured: graphs that allocate are not simulated.
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
    if (CUresult error = context_ready()) return error;
    if (CUresult error = known(pool)) return error;
    if (CUresult error = check_stream(stream)) return error;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    // A pool is its device's: what it gave stays when the context goes.
    Block block{.bytes = bytes, .family = Family::kAsync, .device = pool->device, .pool = pool};
    const std::uint64_t used = pool->attributes[CU_MEMPOOL_ATTR_USED_MEM_CURRENT];
    if (pool->max_bytes && (bytes > pool->max_bytes || used > pool->max_bytes - bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (CUresult error = driver().memory.allocate(block)) return error;
    add_use(pool, bytes);
    *out = block.address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
    if (CUresult error = context_ready()) return error;
    const CUmemoryPool pool = driver().devices[current_context()->device].current_pool;
    return api::cuMemAllocFromPoolAsync(out, bytes, pool, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream) {
    if (CUresult error = context_ready()) return error;
    if (CUresult error = check_stream(stream)) return error;
    return driver().memory.release(p, [](const Block& block) {
        if (block.pool && driver().pools.has(block.pool)) drop_use(block.pool, block.bytes);
        return on_device(block.family);
    });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* props) {
    if (CUresult error = initialized()) return error;
    if (!pool || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (device_ready(props->location.id)) return CUDA_ERROR_INVALID_VALUE;
    *pool = driver().pools.add();
    (*pool)->device = props->location.id;
    (*pool)->max_bytes = props->maxSize;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    if (CUresult error = known(pool)) return error;
    Driver& d = driver();
    Device& device = d.devices[pool->device];
    if (pool == device.default_pool) return CUDA_ERROR_INVALID_VALUE;
    CUmemoryPool expected = pool;
    device.current_pool.compare_exchange_strong(expected, device.default_pool);
    d.memory.release_all([=](const Block& block) { return block.pool == pool; });
    d.pools.remove(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
    return known(pool);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
    if (CUresult error = known(pool)) return error;
    if (!value || attribute <= 0 || !is_settable(attribute)) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t number = 0;
    std::memcpy(&number, value, is_int(attribute) ? sizeof(int) : sizeof number);
    pool->attributes[attribute] = number;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
    if (CUresult error = known(pool)) return error;
    if (!value || attribute <= 0 || attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t number = pool->attributes[attribute];
    std::memcpy(value, &number, is_int(attribute) ? sizeof(int) : sizeof number);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) {
    if (CUresult error = known(pool)) return error;
    return map && count > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cuda_sim::api
