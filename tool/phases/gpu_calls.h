// The calls of a GPU's driver that tell the phases of a process, from the events of
// rules/profile_gpu.rules, each with the function's name:
//
//   gpu_start   gpu_load   gpu_launch (of kernels some)   gpu_copy   gpu_wait
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "phases/gpu_steps.h"
#include "saved/event_fields.h"

namespace mlbcc::phases {

class GpuCalls {
public:
    explicit GpuCalls(size_t most = 1'000'000) : most_(most) {}

    static bool is_one(const saved::EventFields& one);
    void add(const saved::EventFields& one);  // that is one
    // Something was asked of the device: not only whether there is one.
    bool is_work() const { return works_; }
    size_t count() const { return calls_.size(); }
    // There were more than are kept: what came later is not known.
    bool lost() const { return lost_; }

    uint64_t begin_ns() const;  // of the first
    struct Loads {
        size_t count = 0;
        uint64_t time_ns = 0;
    };
    Loads loads_in(const TimeRange& time) const;
    // When the first loads of code, which follow one another closely, are over; nothing without.
    std::optional<uint64_t> loaded_ns() const;
    std::optional<GpuSteps> steps(uint64_t from_ns) const;
    // "cuMemcpyHtoD, cuCtxSynchronize"
    std::string names_of(const std::vector<uint32_t>& calls) const;

private:
    std::vector<GpuCall> in_order() const;

    size_t most_;
    bool works_ = false, lost_ = false;
    std::vector<std::string> names_;
    std::vector<GpuCall> calls_;
};

}  // namespace mlbcc::phases
