// Memory of the device, pinned and registered memory of the host, and what is known of a pointer.

#include <cstring>

#include "api.h"
#include "driver.h"

namespace cuda_sim::api {
namespace {

constexpr size_t kPitchAlignment = 512;  // bytes

template <typename Pointer>
CUresult allocate(Family family, size_t bytes, Pointer* out, unsigned flags = 0) {
    if (CUresult error = context_ready()) return error;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    Block block{.bytes = bytes,
                .family = family,
                .context = current_context(),
                .device = current_context()->device,
                .flags = flags};
    if (CUresult error = driver().memory.allocate(block)) return error;
    *out = (Pointer)block.address;
    return CUDA_SUCCESS;
}

bool is_of_device(const Block& block) {
    return on_device(block.family);
}
bool is_of_host(const Block& block) {
    return block.family == Family::kHost;
}

// A pinned or registered range of the host.
std::optional<Block> find_host(const void* p) {
    auto block = driver().memory.find(address_of(p));
    if (block && block->family != Family::kHost && block->family != Family::kRegistered)
        block.reset();
    return block;
}

template <typename T> CUresult store(void* out, T value) {
    std::memcpy(out, &value, sizeof value);
    return CUDA_SUCCESS;
}

CUresult store_attribute(void* out, CUpointer_attribute attribute, CUdeviceptr p,
                         const Block& block) {
    const bool of_host = block.family == Family::kHost || block.family == Family::kRegistered;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return store(out, block.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return store(out, of_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return store(out, p);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!of_host && block.family != Family::kManaged) return CUDA_ERROR_INVALID_VALUE;
        return store(out, pointer_to(p));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return store(out, static_cast<unsigned long long>(block.address));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return store(out, unsigned{block.family == Family::kManaged});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return store(out, block.device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return store(out, CUdeviceptr{block.address});
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return store(out, block.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED: return store(out, 1u);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return store(out, block.pool);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

}  // namespace

CUresult cuMemGetInfo(size_t* free, size_t* total) {
    if (CUresult error = context_ready()) return error;
    if (!free || !total) return CUDA_ERROR_INVALID_VALUE;
    *free = driver().memory.free_bytes(current_context()->device);
    *total = driver().memory.capacity();
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* out, size_t bytes) {
    return allocate(Family::kDevice, bytes, out);
}

CUresult cuMemAllocPitch(CUdeviceptr* out, size_t* pitch, size_t width, size_t height,
                         unsigned element_bytes) {
    if (!pitch || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
    if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
        return CUDA_ERROR_INVALID_VALUE;
    const size_t row = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    if (row < width || height > SIZE_MAX / row) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = allocate(Family::kPitch, row * height, out)) return error;
    *pitch = row;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(Family::kManaged, bytes, out);
}

CUresult cuMemFree(CUdeviceptr p) {
    if (CUresult error = context_ready()) return error;
    return driver().memory.release(p, is_of_device);
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* size, CUdeviceptr p) {
    if (CUresult error = context_ready()) return error;
    const auto block = driver().memory.find(p);
    if (!block) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = block->address;
    if (size) *size = block->bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocHost(void** out, size_t bytes) {
    return allocate(Family::kHost, bytes, out);
}

CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
    if (flags & ~unsigned{CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                          CU_MEMHOSTALLOC_WRITECOMBINED})
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(Family::kHost, bytes, out, flags);
}

CUresult cuMemFreeHost(void* p) {
    if (CUresult error = context_ready()) return error;
    return driver().memory.release(address_of(p), is_of_host);
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* out, void* p, unsigned flags) {
    if (CUresult error = context_ready()) return error;
    if (!out || flags != 0 || !find_host(p)) return CUDA_ERROR_INVALID_VALUE;
    *out = address_of(p);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned* flags, void* p) {
    if (CUresult error = context_ready()) return error;
    const auto block = find_host(p);
    if (!flags || !block) return CUDA_ERROR_INVALID_VALUE;
    *flags = block->flags;
    return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(void* p, size_t bytes, unsigned flags) {
    if (CUresult error = context_ready()) return error;
    if (!p || bytes == 0 || flags > 15) return CUDA_ERROR_INVALID_VALUE;
    const bool is_new = driver().memory.adopt({.address = address_of(p),
                                               .bytes = bytes,
                                               .family = Family::kRegistered,
                                               .context = current_context(),
                                               .flags = flags});
    return is_new ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult cuMemHostUnregister(void* p) {
    if (CUresult error = context_ready()) return error;
    const bool was_known = driver().memory.forget(address_of(p), Family::kRegistered);
    return was_known ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult cuPointerGetAttribute(void* out, CUpointer_attribute attribute, CUdeviceptr p) {
    if (CUresult error = context_ready()) return error;
    const auto block = driver().memory.find(p);
    if (!out || !block) return CUDA_ERROR_INVALID_VALUE;
    return store_attribute(out, attribute, p, *block);
}

// Of a pointer that the driver does not know, every attribute is left as it is, and the call
// succeeds.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** out,
                                CUdeviceptr p) {
    if (CUresult error = context_ready()) return error;
    if (!attributes || !out) return CUDA_ERROR_INVALID_VALUE;
    const auto block = driver().memory.find(p);
    for (unsigned i = 0; block && i < count; ++i) store_attribute(out[i], attributes[i], p, *block);
    return CUDA_SUCCESS;
}

}  // namespace cuda_sim::api
