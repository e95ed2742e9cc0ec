#include "work.h"

#include "driver.h"

namespace cuda_sim {

CUfunction find_function(CUfunction handle) {
    Driver& d = driver();
    if (d.functions.has(handle)) return handle;
    const auto kernel = reinterpret_cast<CUkernel>(handle);
    return d.kernels.has(kernel) ? kernel->function : nullptr;
}

CUresult run_kernel(const KernelCall& call) {
    driver().books.kernel_ran(call.name());
    return call.run(driver().memory);
}

CUresult run_nodes(const std::vector<CUgraphNode_st>& nodes) {
    for (const CUgraphNode_st& node : nodes) {
        if (node.type == CU_GRAPH_NODE_TYPE_KERNEL) driver().books.graph_kernel_ran();
        if (CUresult error = node.run()) return error;
    }
    return CUDA_SUCCESS;
}

}  // namespace cuda_sim
