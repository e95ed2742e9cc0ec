// The virtual memory API; the work is done in virtual_memory.cpp.

#include "api.h"
#include "driver.h"

namespace cuda_sim::api {
namespace {

bool is_of_device(const CUmemAllocationProp* prop) {
    return prop && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
           prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
           device_ready(prop->location.id) == CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemAddressReserve(CUdeviceptr* out, size_t bytes, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
    if (CUresult error = initialized()) return error;
    if (!out || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::uintptr_t address = 0;
    if (CUresult error = driver().virtual_memory.reserve(bytes, alignment, address)) return error;
    *out = address;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
    if (CUresult error = initialized()) return error;
    return driver().virtual_memory.unreserve(address, bytes);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* prop, unsigned long long flags) {
    if (CUresult error = initialized()) return error;
    if (!handle || flags != 0 || !is_of_device(prop)) return CUDA_ERROR_INVALID_VALUE;
    return driver().virtual_memory.create(bytes, prop->location.id, *handle);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    if (CUresult error = initialized()) return error;
    return driver().virtual_memory.release(handle);
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    if (CUresult error = initialized()) return error;
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return driver().virtual_memory.map(address, bytes, offset, handle);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
    if (CUresult error = initialized()) return error;
    return driver().virtual_memory.unmap(address, bytes);
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* descriptions,
                        size_t count) {
    if (CUresult error = initialized()) return error;
    if (!descriptions || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i) {
        const CUresult error = driver().virtual_memory.set_access(
            address, bytes, descriptions[i].flags, current_context());
        if (error) return error;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address) {
    if (CUresult error = initialized()) return error;
    if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
    CUmemAccess_flags access;
    if (CUresult error = driver().virtual_memory.access_of(address, access)) return error;
    *flags = access;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags) {
    if (CUresult error = initialized()) return error;
    if (!granularity || !prop) return CUDA_ERROR_INVALID_VALUE;
    *granularity = VirtualMemory::kGranularity;
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
    if (CUresult error = initialized()) return error;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    return driver().virtual_memory.retain(address_of(address), *handle);
}

}  // namespace cuda_sim::api
