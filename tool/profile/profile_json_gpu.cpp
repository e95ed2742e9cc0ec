#include <algorithm>

#include "profile/profile.h"
#include "profile/profile_json.h"

namespace mlbcc::profile {
namespace {

constexpr size_t kMostSteps = 2000;

}  // namespace

static void add_members(JsonWriter& json, const GpuLedger& ledger) {
    member(json, "pid", ledger.pid);
    member(json, "device", ledger.device);
    member(json, "peak_bytes", ledger.peak_bytes);
    member(json, "peak_ns", ledger.peak_ns);
    member(json, "peak_function", ledger.peak_function);
    member(json, "held_bytes", ledger.held_bytes);
}

static void add_members(JsonWriter& json, const GpuStep& step) {
    member(json, "time_ns", step.time_ns);
    member(json, "bytes", step.bytes);
}

// Of very many steps every second, third, ..., and the last.
static std::vector<GpuStep> shown_of(const std::vector<GpuStep>& steps) {
    const size_t every = steps.size() / kMostSteps + 1;
    std::vector<GpuStep> shown;
    for (size_t i = 0; i < steps.size(); i += every) shown.push_back(steps[i]);
    if (every > 1) shown.push_back(steps.back());
    return shown;
}

static void add_members(JsonWriter& json, const GpuReport& gpu) {
    member(json, "calls", gpu.calls.calls);
    member(json, "total_time_ns", gpu.calls.time_ns);
    member(json, "errors", gpu.calls.errors);
    objects(json, "by_name", gpu.calls.all, [&](const CallUse& use) {
        member(json, "name", use.name);
        member(json, "calls", use.calls);
        member(json, "total_time_ns", use.time_ns);
        member(json, "errors", use.errors);
    });
    member(json, "memory", gpu.ledgers);
    member(json, "memory_steps", shown_of(gpu.steps));
}

void write_gpu(JsonWriter& json, const Profile& profile) {
    member(json, "gpu", profile.gpu.empty() ? std::nullopt : std::optional(profile.gpu));
}

}  // namespace mlbcc::profile
