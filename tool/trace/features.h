// What this kernel can do: found by trying, and from its BTF.
#pragma once

#include "bpf/kernel.h"

namespace mlbcc::trace {

bpf::Features find_features();

}  // namespace mlbcc::trace
