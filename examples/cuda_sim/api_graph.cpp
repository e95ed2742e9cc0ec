// Graphs: lists of work, captured from streams or made of nodes, and their launches.

#include <algorithm>

#include "api.h"
#include "driver.h"
#include "work.h"

namespace cuda_sim::api {
namespace {

template <typename T> CUresult known(const Handles<T>& handles, const T* handle, const void* out) {
    if (CUresult error = initialized()) return error;
    return handles.has(handle) && out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

std::vector<CUgraphNode_st> copy_of(const CUgraph_st& graph) {
    std::vector<CUgraphNode_st> nodes;
    for (const auto& node : graph.nodes) {
        nodes.push_back(*node);
        nodes.back().origin = node.get();
    }
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

// Nodes run in the order in which they were added, which respects whatever dependencies they can
// have.
CUresult add_node(CUgraphNode* out, CUgraph graph, CUgraphNodeType type, Work work) {
    if (CUresult error = known(driver().graphs, graph, out)) return error;
    graph->nodes.push_back(std::make_unique<CUgraphNode_st>(CUgraphNode_st{type, std::move(work)}));
    *out = graph->nodes.back().get();
    return CUDA_SUCCESS;
}

// `function` may be a kernel of a library.
template <typename Params> CUresult kernel_work(const Params* p, CUfunction function, Work& work) {
    function = find_function(function);
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    const Grid grid{{p->gridDimX, p->gridDimY, p->gridDimZ},
                    {p->blockDimX, p->blockDimY, p->blockDimZ},
                    p->sharedMemBytes};
    const KernelCall call(*function->kernel, grid, p->kernelParams, p->extra);
    if (!call.valid()) return CUDA_ERROR_INVALID_VALUE;
    work = [=] { return run_kernel(call); };
    return CUDA_SUCCESS;
}

// The first form of the structure ends before the kernel of a library.
CUresult prepare_kernel(const CUDA_KERNEL_NODE_PARAMS_v1* p, Work& work) {
    return p ? kernel_work(p, p->func, work) : CUDA_ERROR_INVALID_VALUE;
}

CUresult prepare_kernel(const CUDA_KERNEL_NODE_PARAMS* p, Work& work) {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    return kernel_work(p, p->func ? p->func : reinterpret_cast<CUfunction>(p->kern), work);
}

template <typename Params>
CUresult add_kernel_node(CUgraphNode* out, CUgraph graph, const Params* params) {
    Work work;
    if (CUresult error = known(driver().graphs, graph, out)) return error;
    if (CUresult error = prepare_kernel(params, work)) return error;
    return add_node(out, graph, CU_GRAPH_NODE_TYPE_KERNEL, std::move(work));
}

template <typename Params> CUresult set_kernel_node(CUgraphNode node, const Params* params) {
    if (CUresult error = initialized()) return error;
    if (!node || node->type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
    return prepare_kernel(params, node->run);
}

// `node` is of the graph that the executable was made of; the graph itself stays as it is.
template <typename Params>
CUresult set_executable_node(CUgraphExec executable, CUgraphNode node, const Params* params) {
    if (CUresult error = known(driver().executable_graphs, executable, node)) return error;
    auto& nodes = executable->nodes;
    const auto found = std::find_if(nodes.begin(), nodes.end(),
                                    [=](const auto& one) { return one.origin == node; });
    return found == nodes.end() ? CUDA_ERROR_INVALID_VALUE : set_kernel_node(&*found, params);
}

}  // namespace

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

CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                              const CUDA_KERNEL_NODE_PARAMS_v1* params) {
    return add_kernel_node(out, graph, params);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                                 const CUDA_KERNEL_NODE_PARAMS* params) {
    return add_kernel_node(out, graph, params);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                              const CUDA_MEMCPY3D* copy, CUcontext) {
    Work work;
    if (CUresult error = known(driver().graphs, graph, out)) return error;
    if (CUresult error = prepare(copy, work)) return error;
    return add_node(out, graph, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(work));
}

CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                              const CUDA_MEMSET_NODE_PARAMS* fill, CUcontext) {
    Work work;
    if (CUresult error = known(driver().graphs, graph, out)) return error;
    if (CUresult error = prepare(fill, work)) return error;
    return add_node(out, graph, CU_GRAPH_NODE_TYPE_MEMSET, std::move(work));
}

CUresult cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                            const CUDA_HOST_NODE_PARAMS* params) {
    if (!params || !params->fn) return CUDA_ERROR_INVALID_VALUE;
    return add_node(out, graph, CU_GRAPH_NODE_TYPE_HOST, [call = *params] {
        call.fn(call.userData);
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t) {
    return add_node(out, graph, CU_GRAPH_NODE_TYPE_EMPTY, [] { return CUDA_SUCCESS; });
}

// The child is copied, as it is now.
CUresult cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                                  CUgraph child) {
    if (CUresult error = known(driver().graphs, child, out)) return error;
    return add_node(out, graph, CU_GRAPH_NODE_TYPE_GRAPH,
                    [nodes = copy_of(*child)] { return run_nodes(nodes); });
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
    if (CUresult error = initialized()) return error;
    size_t removed = 0;
    driver().graphs.for_each([&](CUgraph_st& graph) {
        removed += std::erase_if(graph.nodes, [=](auto& one) { return one.get() == node; });
    });
    return removed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
    return set_kernel_node(node, params);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
    return set_kernel_node(node, params);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* params) {
    return set_executable_node(executable, node, params);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* params) {
    return set_executable_node(executable, node, params);
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
    return submit(stream, CU_GRAPH_NODE_TYPE_GRAPH,
                  [nodes = executable->nodes] { return run_nodes(nodes); });
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
    if (CUresult error = initialized()) return error;
    return driver().executable_graphs.remove(executable) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace cuda_sim::api
