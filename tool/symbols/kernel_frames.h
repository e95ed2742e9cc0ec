// The kernel's part of a stack as text: what it was doing for a thread, innermost first, without
// what belongs to the probe itself.
//
//   0xffffffff814bd16a  ->  "[kernel]:vfs_read+0x2a"
//   0xffffffffc0a01258  ->  "[kernel:nvidia]:nvidia_ioctl+0x28"
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plan/plan.h"

namespace mlbcc::symbols {

struct KernelName {
    std::string_view function, module;  // module "": of the kernel itself
    uint64_t offset = 0;                // bytes from the function's beginning
};
// Of an address in the kernel. What it gives lives as long as the caller of names.
using KernelNames = std::function<std::optional<KernelName>(uint64_t)>;

struct KernelStackCopy {
    // Of what runs; and where each of its callers goes on.
    std::span<const uint64_t> addresses;
    const plan::ProbePlan* probe = nullptr;
};

class KernelFrames {
public:
    explicit KernelFrames(KernelNames names) : names_(std::move(names)) {}
    // Appends the frames of a stack to `out`.
    void add(const KernelStackCopy& stack, std::vector<std::string>& out);

private:
    struct Frame {
        std::string text, function;  // function "": not known
    };
    const Frame& frame(uint64_t address, bool is_innermost);

    KernelNames names_;
    std::unordered_map<uint64_t, Frame> innermost_, callers_;  // by address
};

}  // namespace mlbcc::symbols
