// What tracing took of the traced threads' time: estimated from what the kernel counted of each
// probe (codegen::Work) and from what a hit costs on this machine (bpf::HitCost).
//
//   hits x trap, and records x the time that programs took for some of them
//
// A hit after other work is dearer than one of many in a row: the caches have to be filled anew.
// How far apart hits are, as a mean over the threads' CPU time, says where between the two measured
// costs it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bpf/hit_cost.h"
#include "codegen/codegen.h"
#include "plan/plan.h"
#include "sink/sink.h"

namespace mlbcc::account {

struct WorkOf {
    const plan::ProbePlan* probe = nullptr;
    codegen::ProbeWork work{};
    bool in_session = false;                         // codegen::AttachMode::session
    bool steps_entry = false, steps_return = false;  // the kernel single-steps the instruction
};

// `cpu_ns`: of the traced threads, if it is known.
sink::TracingCost tracing_cost(std::span<const WorkOf> all, const bpf::HitCost& hit,
                               std::optional<uint64_t> cpu_ns);

}  // namespace mlbcc::account
