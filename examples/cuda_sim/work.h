// Work that a stream or a graph does: prepared and checked when it is asked for, run then or later.
#pragma once

#include <functional>
#include <vector>

#include "objects.h"

namespace cuda_sim {

using Work = std::function<CUresult()>;

// A launch takes a function, or a kernel of a library in its place. Null if it is neither.
CUfunction find_function(CUfunction handle);

// Runs a kernel on the device's memory, and counts it.
CUresult run_kernel(const KernelCall& call);

// Runs the nodes of a graph one after the other, and counts its kernels; ends at the first error.
CUresult run_nodes(const std::vector<CUgraphNode_st>& nodes);

// The copy or the fill that the structure describes. Errors as of cuMemcpy3D and cuMemsetD2D8.
CUresult prepare(const CUDA_MEMCPY3D* copy, Work& work);
CUresult prepare(const CUDA_MEMSET_NODE_PARAMS* fill, Work& work);

}  // namespace cuda_sim
