// Contexts, and the primary context of each device.

#include <utility>

#include "api.h"
#include "driver.h"

namespace cuda_sim::api {
namespace {

constexpr unsigned kKnownFlags = 0xff;
constexpr unsigned kApiVersion = 3020;  // what contexts of cuCtxCreate_v2 and later answer

CUcontext new_context(CUdevice device, unsigned flags, bool is_primary) {
    CUcontext context = driver().contexts.add();
    context->device = device;
    context->flags = flags;
    context->is_primary = is_primary;
    context->channel = driver().control.create(ObjectClass::kChannel);
    return context;
}

CUresult known(CUcontext context) {
    if (CUresult error = initialized()) return error;
    return driver().contexts.has(context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

// Of the streams only those that are captured cannot be waited for, since nothing runs behind the
// caller's back.
CUresult nothing_is_captured(CUcontext context) {
    bool captured = false;
    driver().streams.for_each([&](CUstream_st& stream) {
        std::lock_guard hold(stream.lock);
        captured = captured || (stream.context == context && stream.capture);
    });
    return captured ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

}  // namespace

CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    if (!context || flags > kKnownFlags) return CUDA_ERROR_INVALID_VALUE;
    *context = new_context(device, flags, false);
    context_stack().push_back(*context);
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int, unsigned flags,
                        CUdevice device) {
    return api::cuCtxCreate(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice device) {
    return api::cuCtxCreate(context, flags, device);
}

CUresult cuCtxDestroy(CUcontext context) {
    if (CUresult error = known(context)) return error;
    if (context->is_primary) return CUDA_ERROR_INVALID_CONTEXT;
    destroy_context(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
    if (CUresult error = known(context)) return error;
    context_stack().push_back(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* context) {
    if (CUresult error = context_ready()) return error;
    if (context) *context = current_context();
    context_stack().pop_back();
    return CUDA_SUCCESS;
}

// Replaces the current context; without one it only takes the current one away.
CUresult cuCtxSetCurrent(CUcontext context) {
    if (CUresult error = context ? known(context) : initialized()) return error;
    if (!context_stack().empty()) context_stack().pop_back();
    if (context) context_stack().push_back(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
    if (CUresult error = initialized()) return error;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
    if (CUresult error = context_ready()) return error;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = current_context()->device;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned* flags) {
    if (CUresult error = context_ready()) return error;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = current_context()->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
    if (CUresult error = context ? known(context) : context_ready()) return error;
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = kApiVersion;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
    if (CUresult error = context_ready()) return error;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    auto& limits = current_context()->limits;
    if (static_cast<unsigned>(limit) >= limits.size()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = limits[limit];
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    if (CUresult error = context_ready()) return error;
    auto& limits = current_context()->limits;
    if (static_cast<unsigned>(limit) >= limits.size()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    if (CUresult error = context_ready()) return error;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
    if (CUresult error = context ? known(context) : context_ready()) return error;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = (context ? context : current_context())->device;
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    if (CUresult error = context_ready()) return error;
    if (CUresult error = known(peer)) return error;
    const CUcontext context = current_context();
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (peer->device == context->device) return CUDA_ERROR_INVALID_CONTEXT;
    std::lock_guard hold(context->lock);
    return context->peers.insert(peer).second ? CUDA_SUCCESS
                                              : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    if (CUresult error = context_ready()) return error;
    const CUcontext context = current_context();
    std::lock_guard hold(context->lock);
    return context->peers.erase(peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

CUresult cuCtxSynchronize() {
    if (CUresult error = context_ready()) return error;
    return nothing_is_captured(current_context());
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
    if (CUresult error = context ? known(context) : context_ready()) return error;
    return nothing_is_captured(context ? context : current_context());
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    Device& d = driver().devices[device];
    std::lock_guard hold(driver().primary_lock);
    if (!d.primary) d.primary = new_context(device, d.primary_flags, true);
    ++d.primary_users;
    *context = d.primary;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    Device& d = driver().devices[device];
    std::lock_guard hold(driver().primary_lock);
    if (d.primary_users == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--d.primary_users > 0) return CUDA_SUCCESS;
    destroy_context(std::exchange(d.primary, nullptr));
    return CUDA_SUCCESS;
}

// Takes down whatever the primary context holds, whoever still uses it.
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
    if (CUresult error = device_ready(device)) return error;
    Device& d = driver().devices[device];
    std::lock_guard hold(driver().primary_lock);
    d.primary_users = 0;
    if (d.primary) destroy_context(std::exchange(d.primary, nullptr));
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
    if (CUresult error = device_ready(device)) return error;
    if (flags > kKnownFlags) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard hold(driver().primary_lock);
    driver().devices[device].primary_flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
    if (CUresult error = device_ready(device)) return error;
    if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard hold(driver().primary_lock);
    *flags = driver().devices[device].primary_flags;
    *active = driver().devices[device].primary != nullptr;
    return CUDA_SUCCESS;
}

}  // namespace cuda_sim::api
