// What a job did, from the events and sums of rules/profile.rules, in one value: live from a
// running trace, or later from a saved one, by the same code. Shown as text, or as JSON
// (docs/profile.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/file_use.h"
#include "profile/findings.h"
#include "profile/gpu_use.h"
#include "profile/long_waits.h"
#include "profile/memory_use.h"
#include "profile/off_cpu.h"
#include "profile/phase_section.h"
#include "profile/process_tree.h"
#include "profile/sum_history.h"
#include "profile/system_calls.h"
#include "profile/time_shares.h"
#include "saved/event_fields.h"
#include "saved/saved_trace.h"
#include "sink/sink.h"

namespace mlbcc::profile {

struct Profile {
    std::vector<std::string> command;      // empty where running processes were traced
    std::vector<std::string> environment;  // names of its variables
    std::string start;                     // wall clock: "2026-11-20T12:00:00.000000Z"
    uint64_t duration_ns = 0;              // of the job: of its processes
    uint64_t events = 0, lost = 0;         // of the trace
    std::string end_reason;                // "" where the trace was cut
    std::vector<ProcessLife> processes;
    FileReport files;
    CallTotals calls;
    OffCpuReport off_cpu;
    TimeReport time;
    MemoryReport memory;
    GpuReport gpu;
    PhaseSection phases;
    FindingReport security;
    std::optional<sink::TracingCost> cost;
};

std::string profile_text(const Profile& profile, size_t width);
std::string profile_json(const Profile& profile);  // one object, with a newline at its end

// Gets all events in their order, then the end.
class ProfileMaker {
public:
    void add(const saved::EventFields& one);
    void add(const sink::Sums& gained);  // its times are since the trace began
    // `end.time_ns` is since the trace began.
    Profile make(const sink::TraceEnd& end, const Surroundings& surroundings) const;

private:
    ProcessTree processes_;
    FileUses files_;
    MemoryUse memory_;
    GpuUse gpu_;
    LongWaits long_waits_;
    phases::Phases phases_;
    Findings findings_;
    SumHistory sums_;
    uint64_t last_ns_ = 0;
};

// Gets the profile when the trace ends.
class ProfileOutput {
public:
    virtual ~ProfileOutput() = default;
    virtual Result<void> show(const Profile& profile) = 0;
};
// Live.
std::unique_ptr<sink::Sink> make_profile(const sink::TraceInfo& info,
                                         std::unique_ptr<ProfileOutput> output);

// Of a saved trace; nothing if it was not made by `mlbcc profile`. Errors as TraceFile's.
struct SavedProfile {
    Profile profile;
    bool has_summary = false;  // else what was summed is missing
    uint64_t damaged = 0;      // lines that are no JSON objects
};
Result<std::optional<SavedProfile>> read_profile(saved::TraceFile& file);

}  // namespace mlbcc::profile
