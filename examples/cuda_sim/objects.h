// What the opaque handles of the driver API point at.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../../rules/types/cuda_driver.h"
#include "control_device.h"
#include "kernels.h"

struct CUctx_st {
    CUdevice device = 0;
    unsigned flags = 0;
    bool is_primary = false;
    cuda_sim::Object channel = 0;
    std::array<std::atomic<size_t>, 7> limits = {1024, 1 << 20, 8 << 20, 2,
                                                 2048, 64,      0};  // by CUlimit, in its units
    std::mutex lock;                                                 // guards peers
    std::set<CUcontext> peers;                                       // whose memory it may use
};

struct CUfunc_st {
    const cuda_sim::Kernel* kernel = nullptr;
    CUmodule module = nullptr;
    std::atomic<int> max_dynamic_shared = 48 << 10;  // bytes
};

struct CUmod_st {
    CUcontext context = nullptr;  // null for the module of a library, which belongs to no context
    std::vector<CUfunction> functions;
};

// A kernel of a library; it may stand for its function in a launch.
struct CUkern_st {
    CUfunction function = nullptr;
};

struct CUlib_st {
    CUmodule module = nullptr;
    std::vector<CUkernel> kernels;
};

struct CUlinkState_st {
    std::string text;
};

struct CUevent_st {
    CUcontext context = nullptr;
    unsigned flags = 0;
    std::atomic<std::int64_t> recorded_ns = 0;  // steady clock; 0: never recorded
    std::atomic<CUgraph> capture = nullptr;     // into which it was recorded last, else null
};

struct CUgraphNode_st {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    std::function<CUresult()> run;
    const CUgraphNode_st* origin = nullptr;  // in an executable graph: the node it was made of
};

struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order in which they run
};

struct CUgraphExec_st {
    std::vector<CUgraphNode_st> nodes;
};

struct CUstream_st {
    CUcontext context = nullptr;
    unsigned flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    std::mutex lock;             // guards capture
    CUgraph capture = nullptr;   // what is captured, else null
    bool began_capture = false;  // else it joined the capture by an event
    std::recursive_mutex order;  // held while work of the stream runs
};

struct CUmemPoolHandle_st {
    CUdevice device = 0;
    size_t max_bytes = 0;                                       // 0: as much as the device has
    std::array<std::atomic<std::uint64_t>, 9> attributes = {};  // by CUmemPool_attribute
};
