#include "phases/gpu_calls.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace mlbcc::phases {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr size_t kNames = 4;  // of a step that are told

constexpr std::string_view kOfGpu = "gpu_";

std::optional<GpuCallKind> kind_of(const saved::EventFields& one) {
    constexpr std::pair<std::string_view, GpuCallKind> kKinds[] = {
        {"gpu_start", GpuCallKind::start},   {"gpu_load", GpuCallKind::load},
        {"gpu_launch", GpuCallKind::launch}, {"gpu_copy", GpuCallKind::submit},
        {"gpu_wait", GpuCallKind::wait},
    };
    if (!one.type.starts_with(kOfGpu)) return {};
    if (one.type == "gpu_launch" && one.name.starts_with("cuGraph")) return GpuCallKind::submit;
    for (const auto& [type, kind] : kKinds) {
        if (one.type == type) return kind;
    }
    return {};
}

}  // namespace

bool GpuCalls::is_one(const saved::EventFields& one) {
    return kind_of(one).has_value();
}

void GpuCalls::add(const saved::EventFields& one) {
    const GpuCallKind kind = kind_of(one).value();
    works_ = works_ || kind != GpuCallKind::start;
    if (calls_.size() >= most_) {
        lost_ = true;
        return;
    }
    auto name = std::ranges::find(names_, one.name);
    if (name == names_.end()) name = names_.insert(name, std::string(one.name));
    calls_.push_back({kind,
                      {one.time_ns, one.time_ns + one.duration_ns},
                      one.tid,
                      static_cast<uint32_t>(name - names_.begin())});
}

// Events come when calls end.
std::vector<GpuCall> GpuCalls::in_order() const {
    std::vector<GpuCall> calls = calls_;
    std::ranges::stable_sort(calls, {}, [](const GpuCall& call) { return call.time.begin_ns; });
    return calls;
}

uint64_t GpuCalls::begin_ns() const {
    uint64_t begin_ns = UINT64_MAX;
    for (const GpuCall& call : calls_) begin_ns = std::min(begin_ns, call.time.begin_ns);
    return begin_ns;
}

GpuCalls::Loads GpuCalls::loads_in(const TimeRange& time) const {
    Loads loads;
    for (const GpuCall& call : calls_) {
        if (call.kind != GpuCallKind::load || call.time.begin_ns < time.begin_ns ||
            call.time.begin_ns >= time.end_ns)
            continue;
        ++loads.count;
        loads.time_ns += call.time.end_ns - call.time.begin_ns;
    }
    return loads;
}

// Code that is loaded seldom, long after that, is no part of it: between two loads lies at most a
// second, and half of what all before them took.
std::optional<uint64_t> GpuCalls::loaded_ns() const {
    std::optional<uint64_t> end_ns;
    const uint64_t begin_ns = this->begin_ns();
    for (const GpuCall& call : in_order()) {
        if (call.kind != GpuCallKind::load) continue;
        if (end_ns && call.time.begin_ns > *end_ns + kSecond + (*end_ns - begin_ns) / 2) break;
        end_ns = std::max(end_ns.value_or(0), call.time.end_ns);
    }
    return end_ns;
}

std::optional<GpuSteps> GpuCalls::steps(uint64_t from_ns) const {
    return find_steps(in_order(), from_ns);
}

std::string GpuCalls::names_of(const std::vector<uint32_t>& calls) const {
    std::vector<uint32_t> told;
    for (uint32_t name : calls) {
        if (std::ranges::find(told, name) == told.end()) told.push_back(name);
    }
    std::string text;
    for (size_t i = 0; i < std::min(kNames, told.size()); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", names_[told[i]]);
    return told.size() > kNames ? text + ", ..." : text;
}

}  // namespace mlbcc::phases
