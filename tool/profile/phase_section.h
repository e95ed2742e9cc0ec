// The phases of a job (phases/phases.h), each with its share of what all processes did meanwhile.
#pragma once

#include <optional>
#include <vector>

#include "phases/phases.h"
#include "profile/gpu_use.h"
#include "profile/memory_use.h"
#include "profile/process_tree.h"
#include "profile/section.h"
#include "profile/sum_history.h"

namespace mlbcc::profile {

struct PhaseShare {
    std::optional<TimedSums> sums;           // nothing without looks at sums
    std::optional<GpuMemoryUse> gpu_memory;  // nothing where none was held
};

struct PhaseSection {
    phases::PhaseReport report;
    std::vector<PhaseShare> shares;             // of each of its phases
    std::optional<TimedSums> outside;           // before the first phase and after the last
    std::optional<double> launches_per_second;  // in the steps; of a single process
};

PhaseSection phase_section(phases::PhaseReport report, const SumHistory& sums,
                           const std::vector<ProcessLife>& lives, const GpuUse& gpu_use,
                           const GpuReport& gpu);

// `memory` has its peak in one of them.
void add_rows(sink::Rows& rows, const PhaseSection& section, const MemoryReport& memory);
void add_members(JsonWriter& json, const PhaseSection& section);

}  // namespace mlbcc::profile
