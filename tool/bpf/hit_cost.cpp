#include "bpf/hit_cost.h"

#include <bpf/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "bpf/assemble.h"
#include "bpf/own_probes.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

constexpr uint32_t kHitRingBytes = 1 << 19;  // all records of the measurement fit in
constexpr int kHitBatches = 9, kHotCalls = 300, kColdCalls = 30, kSteppedCalls = 50;
constexpr size_t kOtherBytes = size_t{1} << 20;  // more than a CPU's inner caches have
constexpr size_t kLine = 64;

// ktime_get_ns(); return `result`: what programs do at least.
std::vector<bpf_insn> looking_at_the_clock(int32_t result) {
    return {call(0, BPF_FUNC_ktime_get_ns), compute(BPF_MOV, BPF_REG_0, result), leave()};
}

// Work between two calls: memory is walked through, as much as takes the time.
class OtherWork {
public:
    OtherWork() : bytes_(kOtherBytes) {}
    void operator()() {
        const uint64_t until = now_ns() + static_cast<uint64_t>(kColdGapNs);
        while (now_ns() < until) {
            for (size_t i = 0; i < kLinesAtOnce; ++i) {
                bytes_[at_] = static_cast<uint8_t>(bytes_[at_] + 1);
                at_ = (at_ + kLine) % bytes_.size();
            }
        }
    }

private:
    static constexpr size_t kLinesAtOnce = 256;
    std::vector<uint8_t> bytes_;
    size_t at_ = 0;
};

struct Times {
    double hot = 0, cold = 0;
};
Times time_calls(OtherWork& work) {
    auto nothing = [] {};
    return {median_call_ns(kHitBatches, kHotCalls, nothing, nothing),
            median_call_ns(
                kHitBatches, kColdCalls, [&] { work(); }, nothing)};
}

double median_syscall_ns() {
    std::vector<double> each;
    for (int batch = 0; batch < kHitBatches; ++batch) {
        const uint64_t begin = now_ns();
        for (int i = 0; i < kHotCalls; ++i) ::syscall(SYS_getppid);
        each.push_back(static_cast<double>(now_ns() - begin) / kHotCalls);
    }
    std::ranges::sort(each);
    return each[each.size() / 2];
}

// 0 where raw tracepoints cannot be had.
double syscall_cost() {
    const std::vector<bpf_insn> code = looking_at_the_clock(0);
    const UniqueFd program = load_assembled(BPF_PROG_TYPE_RAW_TRACEPOINT, "mlbcc_cost", code);
    if (!program) return 0;
    const double alone = median_syscall_ns();
    const UniqueFd begin(bpf_raw_tracepoint_open("sys_enter", program.get()));
    const UniqueFd end(bpf_raw_tracepoint_open("sys_exit", program.get()));
    return begin && end ? std::max(0.0, median_syscall_ns() - alone) : 0;
}

// Of many in a row, beyond what `hit` is without one.
Result<double> record_cost(FunctionLinks by, double hit) {
    const UniqueFd ring(
        bpf_map_create(BPF_MAP_TYPE_RINGBUF, "mlbcc_cost", 0, 0, kHitRingBytes, nullptr));
    if (!ring) return system_error("cannot make a ring buffer");
    Result<OwnProbes> probes =
        probe_own_function(by, recording(ring.get(), by.session ? 1 : 0), OwnPlace::entry);
    if (!probes) return probes.error();
    auto nothing = [] {};
    return std::max(0.0, median_call_ns(kHitBatches, kHotCalls, nothing, nothing) - hit);
}

// Of a `ret`, beyond what an emulated instruction costs, each with a probe of its own.
Result<double> step_cost(FunctionLinks by, double hit) {
    Result<OwnProbes> probes =
        probe_own_function(by, looking_at_the_clock(by.session ? 1 : 0), OwnPlace::ret);
    if (!probes) return probes.error();
    auto nothing = [] {};
    return std::max(0.0, median_call_ns(kHitBatches, kSteppedCalls, nothing, nothing) - hit);
}

}  // namespace

Result<HitCost> measure_hit_cost(FunctionLinks by) {
    OtherWork work;
    const Times alone = time_calls(work);
    auto cost = [&](OwnPlace place, double TrapCost::*where, HitCost& into) -> Result<void> {
        const int32_t result = by.session && place == OwnPlace::entry ? 1 : 0;
        Result<OwnProbes> probes = probe_own_function(by, looking_at_the_clock(result), place);
        if (!probes) return probes.error();
        const Times traced = time_calls(work);
        into.hot.*where = std::max(0.0, traced.hot - alone.hot);
        into.cold.*where = std::max(into.hot.*where, traced.cold - alone.cold);
        return {};
    };
    HitCost made;
    if (auto done = cost(OwnPlace::entry, &TrapCost::entry, made); !done) return done.error();
    if (auto done = cost(OwnPlace::both_ends, &TrapCost::both, made); !done) return done.error();
    Result<double> record = record_cost(by, alone.hot + made.hot.entry);
    if (!record) return record.error();
    made.record = *record;
    Result<double> step = step_cost(by, alone.hot + made.hot.entry);
    if (!step) return step.error();
    made.step = *step;
    made.syscall = syscall_cost();
    return made;
}

std::string to_text(const HitCost& cost) {
    return fmt::format("{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", cost.hot.entry,
                       cost.hot.both, cost.cold.entry, cost.cold.both, cost.syscall, cost.record,
                       cost.step);
}

std::optional<HitCost> read_hit_cost(std::string_view line) {
    HitCost cost;
    const std::string text(line);
    const int read =
        std::sscanf(text.c_str(), "%lf %lf %lf %lf %lf %lf %lf", &cost.hot.entry, &cost.hot.both,
                    &cost.cold.entry, &cost.cold.both, &cost.syscall, &cost.record, &cost.step);
    if (read != 7) return std::nullopt;
    return cost;
}

}  // namespace mlbcc::bpf
