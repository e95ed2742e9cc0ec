// Devices, which differ by their numbers, and access from one to another.

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "api.h"
#include "driver.h"

namespace cuda_sim::api {
namespace {

constexpr std::string_view kName = "Simulated GPU (host memory)";
constexpr int kMajor = 9, kMinor = 0;

// Copies a text into a buffer of `size` bytes, cut where it does not fit, and ended by a zero.
CUresult copy_text(std::string_view text, char* buffer, int size) {
    if (!buffer || size <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(buffer, static_cast<std::size_t>(size), "%s", text.data());
    return CUDA_SUCCESS;
}

// Each device has a bus of its own.
std::string bus_id(CUdevice device) {
    char text[] = "0000:00:00.0";
    std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned>(device) & 0xff);
    return text;
}

int attribute_value(CUdevice_attribute attribute, CUdevice device) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return device;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 0x7fffffff;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return 227 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return 228 << 10;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: return 64 << 10;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1'000'000;  // kHz
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return kMultiprocessors;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return kThreadsPerMultiprocessor;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 50 << 20;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return kMajor;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return kMinor;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 1;
    default:
        return 0;  // what the simulation does not have; programs ask for numbers that no header of
                   // ours knows
    }
}

}  // namespace

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    if (CUresult error = initialized()) return error;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = device_ready(ordinal)) return error;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
    if (CUresult error = initialized()) return error;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = driver().device_count;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    return copy_text(kName, name, size);
}

CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    return copy_text(bus_id(device), id, size);
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
    if (CUresult error = initialized()) return error;
    if (!device || !id) return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < driver().device_count; ++i) {
        if (bus_id(i) != id) continue;
        *device = i;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(uuid->bytes, "cuda_sim device0", sizeof uuid->bytes);
    uuid->bytes[15] = static_cast<char>('0' + device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes = driver().memory.capacity();
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    if (!value || attribute <= 0) return CUDA_ERROR_INVALID_VALUE;
    *value = attribute_value(attribute, device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    *major = kMajor;
    *minor = kMinor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
    if (CUresult error = device_ready(device)) return error;
    if (!can_access) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = device_ready(peer)) return error;
    *can_access = device != peer;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    if (!pool) return CUDA_ERROR_INVALID_VALUE;
    *pool = driver().devices[device].default_pool;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    if (!pool) return CUDA_ERROR_INVALID_VALUE;
    *pool = driver().devices[device].current_pool;
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    if (CUresult error = device_ready(device)) return error;
    if (!driver().pools.has(pool) || pool->device != device) return CUDA_ERROR_INVALID_VALUE;
    driver().devices[device].current_pool = pool;
    return CUDA_SUCCESS;
}

}  // namespace cuda_sim::api
