// How many records a second one core turns into JSONL: records of two rings, swept every 10 ms of
// their own time at 3 million a second, merged, paired and written.
//
//   pipeline_bench [FILE]        FILE: /dev/null unless given
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "event/test_plan.h"
#include "event/unwind_capture.h"
#include "sink/sink.h"

#include <unistd.h>

namespace {

using namespace mlbcc;
using namespace mlbcc::test;

constexpr uint64_t kRecords = 3'000'000;
constexpr uint64_t kStepNs = 333, kSweepNs = 10'000'000;
constexpr int kRounds = 7;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Gives the pipeline the records that `make(i, time)` makes; CPU seconds.
using Make = std::function<std::span<const std::byte>(uint64_t i, uint64_t time)>;
double run_once(const TestPlan& t, const char* path, uint64_t records, const Make& make) {
    sink::TraceInfo info;
    auto sink = sink::open_jsonl(path, info, t.plan);
    if (!sink) return 0;
    event::Pipeline pipeline(t.plan, **sink);
    double start = cpu_seconds(), made = 0;
    uint64_t swept = 0;
    std::vector<std::byte> ring[2];
    std::vector<size_t> sizes[2];
    for (uint64_t i = 0; i < records; ++i) {
        uint64_t time = 1'000'000'000 + i * kStepNs;
        std::span<const std::byte> record = make(i, time);
        size_t cpu = i / 64 % 2;
        ring[cpu].insert(ring[cpu].end(), record.begin(), record.end());
        sizes[cpu].push_back(record.size());
        if (time - swept < kSweepNs && i + 1 < records) continue;
        swept = time;
        double before = cpu_seconds();
        for (uint32_t c = 0; c < 2; ++c) {
            size_t at = 0;
            for (size_t size : sizes[c]) {
                pipeline.add(c, std::span(ring[c]).subspan(at, size));
                at += size;
            }
        }
        pipeline.advance(time);
        made += cpu_seconds() - before;
        for (uint32_t c = 0; c < 2; ++c) ring[c].clear(), sizes[c].clear();
    }
    double before = cpu_seconds();
    pipeline.finish();
    (void)(*sink)->finish({}, pipeline.take_event_id());
    made += cpu_seconds() - before;
    if (pipeline.totals().malformed > 0 || cpu_seconds() < start) std::puts("broken benchmark");
    return made;
}

void report(const char* name, const TestPlan& t, const char* path, uint64_t records,
            const Make& make) {
    std::vector<double> times;
    for (int round = 0; round < kRounds; ++round) times.push_back(run_once(t, path, records, make));
    std::ranges::sort(times);
    double median = times[kRounds / 2];
    std::printf("%-44s %6.2f M/s  %6.1f ns each  (best %.2f M/s)\n", name,
                static_cast<double>(records) / median / 1e6,
                median / static_cast<double>(records) * 1e9,
                static_cast<double>(records) / times[0] / 1e6);
}

// A record kept as bytes, of which only times and threads change.
struct Template {
    Wire wire;
    std::span<const std::byte> at(uint64_t time, uint32_t tid, uint64_t start = 0) {
        std::memcpy(wire.bytes().data(), &time, 8);
        std::memcpy(wire.bytes().data() + 20, &tid, 4);
        if (start != 0) std::memcpy(wire.bytes().data() + sizeof(plan::RecordHeader), &start, 8);
        return wire;
    }
};

void instants(const char* path) {
    TestPlan t;
    plan::ProbeId call = t.probe("cuLaunchKernel");
    uint32_t a = t.number(call, End::entry, kHex), b = t.number(call, End::entry, kU32),
             c = t.number(call, End::entry, kU64);
    t.event(call, End::entry, "launch", "", {{"stream", a}, {"blocks", b}, {"size", c}});
    Template record{Wire::entry(call, 1).number(0x7f0000001000).number(1234).number(5678901)};
    report("48+3x8 bytes, one event each", t, path, kRecords,
           [&](uint64_t i, uint64_t time) { return record.at(time, 70 + i / 64 % 8); });
}

void spans(const char* path) {
    TestPlan t;
    plan::ProbeId call = t.probe("cuMemAlloc", "cuMemAlloc_v2");
    t.returns(call, t.enumeration({{"CUDA_SUCCESS", 0}, {"CUDA_ERROR_INVALID_VALUE", 1}}));
    uint32_t a = t.number(call, End::entry, kHex), b = t.number(call, End::entry, kU64);
    t.span(call, "userspace", {{"dptr", a}, {"bytesize", b}}, {});
    Template begin{Wire::entry(call, 1).number(0x7f0000001000).number(4096)},
        end{Wire::ret(call, 1, 2).number(0)};
    report("spans: B 48+2x8, E 56+8 bytes", t, path, kRecords, [&](uint64_t i, uint64_t time) {
        uint32_t tid = 70 + i / 64 % 8;
        return i % 2 == 0 ? begin.at(time, tid) : end.at(time, tid, time - kStepNs);
    });
}

void calls(const char* path) {
    TestPlan t;
    plan::ProbeId call = t.probe("cuModuleGetFunction");
    t.returns(call, t.enumeration({{"CUDA_SUCCESS", 0}}));
    uint32_t handle = t.number(call, End::ret, kHex), name = t.text(call, End::ret, 64);
    t.event(call, End::ret, "module", "function", {{"handle", handle}, {"name", name}});
    Template record{Wire::ret(call, 1, 2)
                        .number(0)
                        .number(0x7f0000001000)
                        .text("void gemm_kernel<float>(int)", 64)};
    report("whole calls with 64 bytes of text", t, path, kRecords, [&](uint64_t i, uint64_t time) {
        return record.at(time, 70 + i / 64 % 8, time - 100 - i % 7 * 5000);
    });
}

void stacks(const char* path) {
    TestPlan t;
    plan::ProbeId call = t.probe("cuMemAlloc");
    t.event(call, End::ret, "memory", "alloc", {{"size", t.number(call, End::ret, kU64)}});
    t.stack(call, End::ret);
    event::Capture captured = event::capture_here(plan::kMaxStackBytes);
    Wire wire = Wire::ret(call, 1, 2)
                    .thread(static_cast<uint32_t>(getpid()), 70)
                    .number(4096)
                    .append(captured.from);
    wire.raw({reinterpret_cast<const char*>(captured.stack.data()), captured.stack.size()});
    Template record{wire};
    report("whole calls with a stack of 10 frames", t, path, kRecords / 30,
           [&](uint64_t, uint64_t time) { return record.at(time, 70, time - 100); });
}

}  // namespace

int main(int argc, char** argv) {
    const char* path = argc > 1 ? argv[1] : "/dev/null";
    instants(path);
    spans(path);
    calls(path);
    stacks(path);
}
