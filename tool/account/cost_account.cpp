#include "account/cost_account.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include <fmt/format.h>

#include "account/tracing_cost.h"
#include "base/file_cache.h"
#include "base/threads.h"
#include "files/install_paths.h"
#include "process/proc.h"
#include "sink/cost_text.h"

namespace mlbcc::account {
namespace {

constexpr uint64_t kLeastToWarnNs = 1'000'000'000;  // of CPU time

// What a hit's cost depends on.
std::string question(codegen::AttachMode mode) {
    utsname kernel{};
    ::uname(&kernel);
    return fmt::format("cost of a hit, 2: {} {} {}, {}, mode {}", kernel.release, kernel.version,
                       kernel.machine, process::cpu_model(), static_cast<int>(mode));
}

codegen::ProbeWork sum_of(const std::vector<std::byte>& parts) {
    codegen::ProbeWork all{};
    for (size_t at = 0; at + sizeof all <= parts.size(); at += sizeof all) {
        codegen::ProbeWork one{};
        std::memcpy(&one, parts.data() + at, sizeof one);
        all.hits += one.hits;
        all.let_go += one.let_go;
        all.records += one.records;
        all.timed += one.timed;
        all.timed_ns += one.timed_ns;
        all.too_deep += one.too_deep;
        all.of_32_bit += one.of_32_bit;
    }
    return all;
}

}  // namespace

void CostAccount::begin_to_measure(codegen::AttachMode mode, bool use_cache) {
    measuring_ = on_a_thread([mode, use_cache]() -> Result<bpf::HitCost> {
        const FileCache cache = use_cache ? FileCache(files::cache_folder()) : FileCache();
        const std::string asked = question(mode);
        if (const auto kept = cache.get(asked)) {
            if (const auto cost = bpf::read_hit_cost(*kept)) return *cost;
        }
        Result<bpf::HitCost> cost = bpf::measure_hit_cost(
            {mode == codegen::AttachMode::session, mode != codegen::AttachMode::perf});
        // On a busy machine the measurement may make no sense: then the next start tries again.
        if (cost && cost->is_plausible()) cache.put(asked, bpf::to_text(*cost));
        return cost;
    });
}

std::string CostAccount::measured() {
    Result<bpf::HitCost> cost = measuring_.get();
    if (!cost) return "the cost of a probe hit could not be measured: " + cost.error().message();
    hit_ = *cost;
    return fmt::format("a hit costs {:.0f} to {:.0f} ns, with its end {:.0f} to {:.0f}; a record "
                       "{:.0f}; a system call's both ends {:.0f}; a single step {:.0f}",
                       hit_->hot.entry, hit_->cold.entry, hit_->hot.both, hit_->cold.both,
                       hit_->record, hit_->syscall, hit_->step);
}

void CostAccount::begin(const std::vector<int>& pids) {
    begun_ = true;
    for (int pid : pids) {
        const uint64_t before = process::cpu_time_of(pid).value_or(0);
        roots_.push_back({pid, before, before});
    }
}

// Who ends between two looks has been waited for, most often: then its parent's time has it.
void CostAccount::look(uint64_t now_ns, const std::vector<int>& processes) {
    if (!begun_) return;
    looked_ns_ = now_ns;
    others_ns_ = 0;
    for (int pid : processes) {
        const std::optional<uint64_t> ns = process::cpu_time_of(pid);
        if (!ns) continue;
        const auto root = std::ranges::find(roots_, pid, &Root::pid);
        if (root == roots_.end()) {
            others_ns_ += *ns;
        } else {
            root->ns = std::max(root->ns, *ns);
        }
    }
}

void CostAccount::ended(int pid, uint64_t cpu_ns) {
    const auto root = std::ranges::find(roots_, pid, &Root::pid);
    if (root != roots_.end()) root->ns = std::max(root->before_ns, cpu_ns);
}

std::vector<WorkOf> CostAccount::works() const {
    std::vector<WorkOf> all;
    bpf::Map* map = loaded_.kernel.map(codegen::maps::kWork);
    if (map == nullptr) return all;
    for (const plan::ProbePlan& probe : plan_.probes) {
        const auto id = static_cast<uint32_t>(probe.id);
        const auto parts = map->lookup(&id);
        if (!parts) continue;
        const bool in_session =
            plan::is_function(probe.kind) &&
            loaded_.mode_of(codegen::side_of(probe)) == codegen::AttachMode::session;
        all.push_back({&probe, sum_of(*parts), in_session,
                       loaded_.stepped_entries.contains(probe.id), loaded_.steps_returns});
    }
    return all;
}

std::vector<std::pair<std::string, uint64_t>> CostAccount::too_deep() const {
    std::map<std::string, uint64_t> calls;
    for (const WorkOf& one : works()) {
        if (one.work.too_deep > 0) calls[one.probe->function] += one.work.too_deep;
    }
    return {calls.begin(), calls.end()};
}

uint64_t CostAccount::of_32_bit() const {
    uint64_t calls = 0;
    for (const WorkOf& one : works()) calls += one.work.of_32_bit;
    return calls;
}

std::optional<sink::TracingCost> CostAccount::cost() const {
    if (!hit_ || loaded_.kernel.map(codegen::maps::kWork) == nullptr) return std::nullopt;
    std::optional<uint64_t> cpu_ns;
    if (begun_) {
        cpu_ns = others_ns_;
        for (const Root& one : roots_) *cpu_ns += one.ns - one.before_ns;
    }
    return tracing_cost(works(), *hit_, cpu_ns);
}

std::optional<std::string> CostAccount::warning() {
    if (warned_) return std::nullopt;
    const std::optional<sink::TracingCost> now = cost();
    if (!now || !now->exceeds(sink::kDearShare) || *now->cpu_ns < kLeastToWarnNs)
        return std::nullopt;
    warned_ = true;
    std::string text =
        fmt::format("tracing takes {} of the traced processes", sink::cost_text(*now));
    const std::vector<std::string> dear = sink::cost_by_function(*now);
    return dear.empty() ? text : text + ": " + dear.front();
}

}  // namespace mlbcc::account
