// What this kernel can do: found by trying, and from its BTF.
#pragma once

#include <cstdint>
#include <string>

#include "bpf/kernel.h"
#include "kernel/kernel_btf.h"

namespace mlbcc::load {

bpf::Features find_features();

// The BTF id of a function of the kernel that programs can call with their context and nothing
// else: it takes that (the functions of sessions do on Linux 7), or nothing at all. 0: there is
// none.
uint32_t callable_with_context(kernel::KernelBtf& btf, const std::string& name);

}  // namespace mlbcc::load
