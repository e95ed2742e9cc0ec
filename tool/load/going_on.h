// What is not over when the trace ends, a wait or a connection: the templates tell of it then, with
// its time until then (rules::ProbeDefinition::GoesOn). Threads of the processes that were traced
// from the beginning may have waited all along: they are found in /proc.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bpf/kernel.h"
#include "plan/plan.h"

namespace mlbcc::load {

class GoingOn {
public:
    GoingOn(const plan::Plan& plan, bpf::LoadedProgram& loaded) : plan_(plan), loaded_(loaded) {}

    // Whether tell() reads what threads of given processes wait for.
    bool finds_threads() const;
    // Once nothing new is recorded, while the probes are still there. `since_ns`: when they began
    // to record; `processes`: whose threads are looked for.
    void tell(uint64_t since_ns, const std::vector<int>& processes);
    // How many were told, by probe: only where some were.
    const std::vector<std::pair<std::string, uint64_t>>& told() const { return told_; }

private:
    const plan::Plan& plan_;
    bpf::LoadedProgram& loaded_;
    std::vector<std::pair<std::string, uint64_t>> told_;
};

}  // namespace mlbcc::load
