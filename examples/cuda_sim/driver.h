// The state of the simulated driver, and the checks that most functions of the API begin with.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>

#include "books.h"
#include "control_device.h"
#include "handles.h"
#include "memory.h"
#include "objects.h"
#include "virtual_memory.h"

namespace cuda_sim {

// What each simulated device says of itself.
inline constexpr int kDriverVersion = 13000;
inline constexpr int kMultiprocessors = 132;
inline constexpr int kThreadsPerMultiprocessor = 2048;

inline constexpr int kMaxDevices = 16;

struct Device {
    CUmemoryPool default_pool = nullptr;
    std::atomic<CUmemoryPool> current_pool = nullptr;
    CUcontext primary = nullptr;  // this and the next two under Driver::primary_lock
    unsigned primary_users = 0, primary_flags = 0;
};

struct Driver {
    Driver();

    Books books;
    ControlDevice control;
    Memory memory;
    VirtualMemory virtual_memory;
    std::atomic<bool> is_initialized = false;

    Handles<CUctx_st> contexts;
    Handles<CUmod_st> modules;
    Handles<CUlib_st> libraries;
    Handles<CUkern_st> kernels;    // of libraries
    Handles<CUfunc_st> functions;  // of modules and libraries
    Handles<CUstream_st> streams;
    Handles<CUevent_st> events;
    Handles<CUlinkState_st> links;
    Handles<CUgraph_st> graphs;
    Handles<CUgraphExec_st> executable_graphs;
    Handles<CUmemPoolHandle_st> pools;

    CUstream_st default_stream;
    std::atomic<unsigned long long> last_stream_id = 1;

    const int device_count;
    std::array<Device, kMaxDevices> devices;  // device_count of them
    std::mutex primary_lock;                  // guards the primary contexts of devices
};

// A driver is one a process: its interface is plain functions.
Driver& driver();

// CUDA_SUCCESS, or CUDA_ERROR_NOT_INITIALIZED before cuInit.
CUresult initialized();

// As initialized(), and CUDA_ERROR_INVALID_CONTEXT if the thread has no context,
// CUDA_ERROR_CONTEXT_IS_DESTROYED if it has gone.
CUresult context_ready();

// As initialized(), and CUDA_ERROR_INVALID_DEVICE for one that is not there.
CUresult device_ready(CUdevice device);

// The contexts that the calling thread has pushed; the last one is current.
std::vector<CUcontext>& context_stack();
CUcontext current_context();

// Null if there is no such stream. 0, CU_STREAM_LEGACY (1) and CU_STREAM_PER_THREAD (2) are the
// default stream.
CUstream find_stream(CUstream handle);

// Takes everything of a context down: its memory, modules, streams and events.
void destroy_context(CUcontext context);

std::int64_t now_ns();

inline std::uintptr_t address_of(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}
inline void* pointer_to(CUdeviceptr address) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

// Runs a piece of work in a stream: now, after what other threads run there; or, while the stream
// is captured, adds it to the graph. Returns what the work returned, or CUDA_ERROR_INVALID_HANDLE.
template <typename Work> CUresult submit(CUstream handle, CUgraphNodeType type, Work work) {
    if (CUresult error = context_ready()) return error;
    CUstream stream = find_stream(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    {
        std::lock_guard hold(stream->lock);
        if (stream->capture) {
            if (type == CU_GRAPH_NODE_TYPE_KERNEL) driver().books.launch_captured();
            stream->capture->nodes.push_back(
                std::make_unique<CUgraphNode_st>(CUgraphNode_st{type, work}));
            return CUDA_SUCCESS;
        }
    }
    std::lock_guard in_order(stream->order);
    return work();
}

}  // namespace cuda_sim
