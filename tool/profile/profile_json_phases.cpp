#include "profile/profile.h"
#include "profile/profile_json.h"

namespace mlbcc::profile {

static void add_members(JsonWriter& json, const CpuCounters& counters) {
    member(json, "cycles", counters.cycles);
    member(json, "instructions", counters.instructions);
    member(json, "cache_misses", counters.cache_misses);
    member(json, "branch_misses", counters.branch_misses);
}

static void add_members(JsonWriter& json, const PhaseUse& use) {
    member(json, "cpu_ns", use.cpu_ns);
    member(json, "read_bytes", use.read_bytes);
    member(json, "written_bytes", use.written_bytes);
    member(json, "memory_growth_bytes", use.memory_growth_bytes);
    member(json, "peak_resident_bytes", use.peak_resident_bytes);
    member(json, "counters", use.counters);
}

static void add_members(JsonWriter& json, const GpuMemoryUse& use) {
    member(json, "growth_bytes", use.growth_bytes);
    member(json, "peak_bytes", use.peak_bytes);
}

static void add_sums(JsonWriter& json, const std::optional<TimedSums>& sums) {
    write_calls(json, "system_calls", sums ? &sums->calls : nullptr);
    write_gpu_calls(json, sums ? &sums->gpu : nullptr);
    member(json, "off_cpu_ns", sums ? std::optional(sums->off_cpu_ns) : std::nullopt);
    write_shares(json, "time", sums ? &sums->time : nullptr);
}

static void add_members(JsonWriter& json, const TimedSums& sums) {
    add_sums(json, sums);
}

static void add_members(JsonWriter& json, const Span& span) {
    member(json, "begin_ns", span.begin_ns);
    member(json, "end_ns", span.end_ns);
}

static void add_members(JsonWriter& json, const PhaseWork& work) {
    member(json, "python_files", uint64_t{work.python_files});
    member(json, "kernel_cache_files", uint64_t{work.cache_files});
    member(json, "code_loads", uint64_t{work.loads.count});
    member(json, "code_load_ns", work.loads.time_ns);
}

static void add_members(JsonWriter& json, const StepReport& steps) {
    member(json, "pid", steps.pid);
    add_members(json, steps.time);
    member(json, "count", uint64_t{steps.count});
    member(json, "per_second", steps.per_second());
    member(json, "median_ns", steps.times.median_ns);
    member(json, "longest_ns", steps.times.longest_ns);
    objects(json, "slow", steps.times.slow, [&](const SlowStep& step) {
        member(json, "number", uint64_t{step.number});
        add_members(json, step.time);
    });
}

static void add_members(JsonWriter& json, const Phase& phase) {
    member(json, "name", phase.name);
    add_members(json, phase.time);
    member(json, "begin_evidence", phase.begin_evidence);
    member(json, "end_evidence", phase.end_evidence);
    member(json, "work", phase.work);
    member(json, "used", phase.use);
    add_sums(json, phase.sums);
    member(json, "gpu_memory", phase.gpu_memory);
}

static void add_members(JsonWriter& json, const Growth& growth) {
    member(json, "bytes_a_repetition", growth.bytes_a_repetition);
    member(json, "grows", growth.grows);
    member(json, "repetitions", uint64_t{growth.repetitions});
}

static void add_members(JsonWriter& json, const PhaseReport& phases) {
    member(json, "pid", phases.pid);
    member(json, "phases", phases.phases);
    member(json, "repetitions", phases.repetitions);
    member(json, "repetition_evidence", phases.repetition_evidence);
    member(json, "steps", phases.steps);
    member(json, "launches_per_second", phases.launches_per_second);
    member(json, "other_steps", phases.other_steps);
    member(json, "growth", phases.growth);
    member(json, "outside", phases.outside);
}

void write_phases(JsonWriter& json, const Profile& profile) {
    member(json, "phases", profile.phases);
    const Phase* peak = profile.phases.at(profile.memory.peak_ns);
    member(json, "peak_phase",
           peak == nullptr ? std::optional<std::string>() : std::optional(peak->name));
}

}  // namespace mlbcc::profile
