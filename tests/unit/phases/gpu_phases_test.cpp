// The phases of a job that works on a GPU and reads no weights, from its events.
#include <gtest/gtest.h>

#include "phases/phases.h"

#include "saved/made.h"

namespace mlbcc::phases {
namespace {

using namespace mlbcc::test;

constexpr uint64_t kMs = 1'000'000;

saved::EventFields gpu(std::string_view type, std::string_view call, uint64_t time,
                       uint64_t duration = 1, uint32_t pid = 1) {
    return event_fields(type, call, time, pid, pid, {}, duration);
}

saved::EventFields open(uint64_t time, std::string_view path) {
    return event_fields("file", "open", time, 1, 1,
                        {{"path", path}, {"inode", int64_t{7}}, {"device", int64_t{1}}});
}

void add_start(Phases& phases) {
    phases.add(
        event_fields("process", "command", 4, 1, 1,
                     {{"path", "/usr/bin/python3"}, {"arg0", "python3"}, {"arg1", "job.py"}}));
    phases.add(event_fields("process", "exec", 5, 1, 1, {{"path", "/usr/bin/python3"}}));
    phases.add(open(10, "/usr/lib/python3.11/site.pyc"));
    phases.add(open(20, "job.py"));
    phases.add(open(30, "/usr/lib/python3.11/enum.pyc"));
    phases.add(open(31, "/usr/lib/python3.11/ast.pyc"));
}

// Twenty, of 10 ms.
void add_steps(Phases& phases, uint64_t time, uint32_t pid = 1) {
    for (int i = 0; i < 20; ++i, time += 10 * kMs) {
        phases.add(gpu("gpu_copy", "cuMemcpyHtoD", time, kMs, pid));
        uint64_t slow = i == 7 ? 90 * kMs : 0;
        phases.add(gpu("gpu_wait", "cuCtxSynchronize", time + 8 * kMs + slow, kMs, pid));
        time += slow;
    }
}

std::vector<std::pair<std::string, uint64_t>> begins(const PhaseReport& report) {
    std::vector<std::pair<std::string, uint64_t>> found;
    for (const Phase& phase : report.phases) found.emplace_back(phase.name, phase.time.begin_ns);
    return found;
}
using Begins = std::vector<std::pair<std::string, uint64_t>>;

TEST(GpuPhases, imports_first_run_steps_end) {
    Phases phases;
    add_start(phases);
    phases.add(gpu("gpu_start", "cuInit", 100));
    phases.add(open(150, "/root/.nv/ComputeCache/index"));
    phases.add(gpu("gpu_load", "cuModuleLoadData", 200, 50));
    phases.add(gpu("gpu_load", "cuModuleLoadData", 300, 70));
    add_steps(phases, 1000);
    phases.add(event_fields("process", "exit", 400 * kMs, 1, 1));
    PhaseReport report = phases.report(500 * kMs);
    EXPECT_EQ(begins(report), (Begins{{"start_up", 5},
                                      {"import", 20},
                                      {"first_run", 100},
                                      {"steps", 1000},
                                      {"end", 289 * kMs + 1000}}));
    EXPECT_EQ(report.phases[1].work.python_files, 3u);
    EXPECT_EQ(report.phases[2].work.cache_files, 1u);
    EXPECT_EQ(report.phases[2].work.loads.count, 2u);
    EXPECT_EQ(report.phases[2].work.loads.time_ns, 120u);
    EXPECT_EQ(report.phases[4].time.end_ns, 400 * kMs);
    ASSERT_TRUE(report.steps);
    EXPECT_EQ(report.steps->count, 20u);
    EXPECT_EQ(report.steps->times.median_ns, 10 * kMs);
    ASSERT_EQ(report.steps->times.slow.size(), 1u);
    EXPECT_EQ(report.steps->times.slow[0].number, 7u);
    EXPECT_EQ(report.steps->times.slow[0].time.length_ns(), 100 * kMs);
    EXPECT_NEAR(report.steps->per_second(), 20 / 0.289, 0.01);
    EXPECT_EQ(report.repetition_evidence,
              "cuMemcpyHtoD, cuCtxSynchronize come again and again, 20 times");
}

TEST(GpuPhases, without_repetitions_the_first_run_ends_with_the_first_loads) {
    Phases phases;
    phases.add(event_fields("process", "exec", 5, 1, 1, {{"path", "/opt/prog"}}));
    phases.add(gpu("gpu_start", "cuInit", 100));
    phases.add(gpu("gpu_load", "cuModuleLoadData", 200 * kMs, 50));
    phases.add(gpu("gpu_load", "cuModuleLoadData", 900 * kMs, 50));
    phases.add(gpu("gpu_load", "cuModuleLoadData", 5000 * kMs, 50));  // long after
    phases.add(gpu("gpu_wait", "cuCtxSynchronize", 6000 * kMs));
    PhaseReport report = phases.report(7000 * kMs);
    EXPECT_EQ(begins(report),
              (Begins{{"start_up", 5}, {"first_run", 100}, {"run", 900 * kMs + 50}}));
    EXPECT_FALSE(report.steps);
}

TEST(GpuPhases, who_only_asks_whether_there_is_a_gpu_has_none) {
    Phases phases;
    add_start(phases);
    phases.add(gpu("gpu_start", "cuInit", 100));
    EXPECT_EQ(begins(phases.report(1000)), (Begins{{"run", 5}}));
}

TEST(GpuPhases, of_a_process_that_was_there_before_the_trace) {
    Phases phases;
    add_steps(phases, 1000);
    PhaseReport report = phases.report(400 * kMs);
    EXPECT_EQ(begins(report), (Begins{{"run", 0}, {"steps", 1000}, {"end", 289 * kMs + 1000}}));
}

TEST(GpuPhases, of_several_processes_each_has_its_steps) {
    Phases phases;
    phases.add(event_fields("process", "exec", 5, 3, 3, {{"path", "/bin/sh"}}));
    add_steps(phases, 1000, 1);
    add_steps(phases, 2000, 2);
    phases.add(gpu("gpu_wait", "cuCtxSynchronize", 395 * kMs, 1, 2));
    PhaseReport report = phases.report(400 * kMs);
    EXPECT_EQ(report.pid, 2u);
    ASSERT_EQ(report.other_steps.size(), 1u);
    EXPECT_EQ(report.other_steps[0].pid, 1u);
    EXPECT_EQ(report.other_steps[0].count, 20u);
    EXPECT_EQ(report.other_steps[0].time.begin_ns, 1000u);
}

TEST(GpuPhases, steps_on_the_gpu_are_the_repetitions_of_inference) {
    Phases phases;
    phases.add(event_fields("process", "exec", 5, 1, 1, {{"path", "/opt/prog"}}));
    phases.add(open(100, "model.safetensors"));
    phases.add(event_fields(
        "file", "read", 110, 1, 1,
        {{"inode", int64_t{7}}, {"device", int64_t{1}}, {"bytes", int64_t{1 << 20}}}, 10));
    add_steps(phases, 1000);
    PhaseReport report = phases.report(400 * kMs);
    EXPECT_EQ(begins(report),
              (Begins{{"start_up", 5}, {"loading", 100}, {"warm_up", 120}, {"inference", 1000}}));
    ASSERT_TRUE(report.steps);
    EXPECT_EQ(report.steps->count, 20u);
}

}  // namespace
}  // namespace mlbcc::phases
