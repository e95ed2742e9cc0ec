// Launches of kernels and of functions of the host, and graphs, which are lists of such work.

#include <algorithm>

#include "api.h"
#include "driver.h"

namespace cuda_sim::api {
namespace {

// A launch takes a function, or a kernel of a library in its place. Null if it is neither.
CUfunction find_function(CUfunction handle) {
    Driver& d = driver();
    if (d.functions.has(handle)) return handle;
    const auto kernel = reinterpret_cast<CUkernel>(handle);
    return d.kernels.has(kernel) ? kernel->function : nullptr;
}

CUresult run(const KernelCall& call) {
    driver().books.kernel_ran();
    return call.run(driver().memory);
}

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
    return submit(stream, CU_GRAPH_NODE_TYPE_KERNEL, [=] { return run(call); });
}

template <typename T> CUresult known(const Handles<T>& handles, const T* handle, const void* out) {
    if (CUresult error = initialized()) return error;
    return handles.has(handle) && out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

std::vector<CUgraphNode_st> copy_of(const CUgraph_st& graph) {
    std::vector<CUgraphNode_st> nodes;
    for (const auto& node : graph.nodes) nodes.push_back(*node);
    return nodes;
}

CUresult instantiate(CUgraphExec* executable, CUgraph graph) {
    if (CUresult error = context_ready()) return error;
    if (CUresult error = known(driver().graphs, graph, executable)) return error;
    *executable = driver().executable_graphs.add(CUgraphExec_st{copy_of(*graph)});
    return CUDA_SUCCESS;
}

bool same_shape(const CUgraphExec_st& executable, const CUgraph_st& graph) {
    return std::equal(executable.nodes.begin(), executable.nodes.end(), graph.nodes.begin(),
                      graph.nodes.end(),
                      [](const CUgraphNode_st& a, const auto& b) { return a.type == b->type; });
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

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
    if (CUresult error = initialized()) return error;
    if (!graph || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *graph = driver().graphs.add();
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
    if (CUresult error = initialized()) return error;
    return driver().graphs.remove(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
    if (CUresult error = known(driver().graphs, original, clone)) return error;
    *clone = driver().graphs.add();
    for (auto& node : original->nodes)
        (*clone)->nodes.push_back(std::make_unique<CUgraphNode_st>(*node));
    return CUDA_SUCCESS;
}

// Nodes run in the order in which they were added, which respects whatever dependencies they can
// have.
CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                              const CUDA_KERNEL_NODE_PARAMS* p) {
    if (CUresult error = known(driver().graphs, graph, out)) return error;
    const CUfunction function = p ? find_function(p->func) : nullptr;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    const Grid grid{{p->gridDimX, p->gridDimY, p->gridDimZ},
                    {p->blockDimX, p->blockDimY, p->blockDimZ},
                    p->sharedMemBytes};
    const KernelCall call(*function->kernel, grid, p->kernelParams, p->extra);
    if (!call.valid()) return CUDA_ERROR_INVALID_VALUE;
    graph->nodes.push_back(std::make_unique<CUgraphNode_st>(
        CUgraphNode_st{CU_GRAPH_NODE_TYPE_KERNEL, [=] { return run(call); }}));
    *out = graph->nodes.back().get();
    return CUDA_SUCCESS;
}

// Without `nodes` it tells how many there are.
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
    if (CUresult error = known(driver().graphs, graph, count)) return error;
    const size_t all = graph->nodes.size();
    for (size_t i = 0; nodes && i < *count; ++i)
        nodes[i] = i < all ? graph->nodes[i].get() : nullptr;
    *count = nodes ? std::min(*count, all) : all;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
    if (CUresult error = initialized()) return error;
    if (!node || !type) return CUDA_ERROR_INVALID_VALUE;
    *type = node->type;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node,
                            char* log, size_t size) {
    if (error_node) *error_node = nullptr;
    if (log && size) *log = '\0';
    return instantiate(executable, graph);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                     unsigned long long flags) {
    return flags > 15 ? CUDA_ERROR_INVALID_VALUE : instantiate(executable, graph);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    params->hErrNode_out = nullptr;
    const CUresult error = instantiate(executable, graph);
    params->result_out = error ? 1 : 0;
    return error;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph,
                              CUgraphExecUpdateResultInfo* info) {
    if (CUresult error = known(driver().executable_graphs, executable, info)) return error;
    if (CUresult error = known(driver().graphs, graph, info)) return error;
    const bool fits = same_shape(*executable, *graph);
    *info = {fits ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
             nullptr, nullptr};
    if (!fits) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    executable->nodes = copy_of(*graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* result) {
    if (!error_node || !result) return CUDA_ERROR_INVALID_VALUE;
    CUgraphExecUpdateResultInfo info{};
    const CUresult error = api::cuGraphExecUpdate_v2(executable, graph, &info);
    *error_node = info.errorNode;
    *result = info.result;
    return error;
}

CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
    if (CUresult error = context_ready()) return error;
    return known(driver().executable_graphs, executable, find_stream(stream));
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
    if (CUresult error = context_ready()) return error;
    if (CUresult error = known(driver().executable_graphs, executable, executable)) return error;
    driver().books.graph_launched();
    return submit(stream, CU_GRAPH_NODE_TYPE_GRAPH, [nodes = executable->nodes] {
        for (const CUgraphNode_st& node : nodes)
            if (CUresult error = node.run()) return error;
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
    if (CUresult error = initialized()) return error;
    return driver().executable_graphs.remove(executable) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cuda_sim::api
