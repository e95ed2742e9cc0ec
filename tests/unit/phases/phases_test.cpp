#include "phases/phases.h"

#include <gtest/gtest.h>

#include "saved/made.h"

namespace mlbcc::phases {
namespace {

using namespace mlbcc::test;

constexpr int64_t kMiB = 1 << 20;

saved::EventFields file(std::string_view name, uint64_t time, int64_t inode, Arguments more,
                        uint64_t duration = 0, uint32_t pid = 1) {
    Arguments arguments = std::move(more);
    arguments.push_back({"inode", inode});
    arguments.push_back({"device", int64_t{1}});
    return event_fields("file", name, time, pid, pid, std::move(arguments), duration);
}

saved::EventFields open(uint64_t time, int64_t inode, std::string_view path, uint32_t pid = 1) {
    return file("open", time, inode, {{"path", path}, {"size", 64 * kMiB}}, 0, pid);
}

saved::EventFields read(uint64_t time, int64_t inode, uint64_t duration, uint32_t pid = 1) {
    return file("read", time, inode, {{"bytes", 32 * kMiB}}, duration, pid);
}

saved::EventFields block(std::string_view name, uint64_t time, int64_t address, int64_t size) {
    return event_fields("memory", name, time, 1, 1, {{"address", address}, {"bytes", size}});
}

saved::EventFields mark(uint64_t time, std::string_view text) {
    return event_fields("phase", "mark", time, 1, 1,
                        {{"text", text}, {"bytes", static_cast<int64_t>(text.find('\n') + 1)}});
}

saved::EventFields exec(uint64_t time, uint32_t pid = 1) {
    return event_fields("process", "exec", time, pid, pid);
}

saved::EventFields exit_of(uint64_t time, uint32_t pid = 1) {
    return event_fields("process", "exit", time, pid, pid);
}

std::vector<std::pair<std::string, uint64_t>> begins(const PhaseReport& report) {
    std::vector<std::pair<std::string, uint64_t>> found;
    for (const Phase& phase : report.phases) found.emplace_back(phase.name, phase.time.begin_ns);
    return found;
}

using Begins = std::vector<std::pair<std::string, uint64_t>>;

TEST(Phases, of_a_model_that_is_loaded_and_run) {
    Phases phases;
    phases.add(exec(5));
    phases.add(open(90, 3, "/usr/lib/a.so"));
    phases.add(read(91, 3, 1));
    phases.add(open(100, 7, "model.pt"));
    phases.add(block("map", 105, 0x1000, 32 * kMiB));
    phases.add(read(110, 7, 5));
    phases.add(block("map", 116, 0x2000, 32 * kMiB));
    phases.add(read(120, 7, 10));
    phases.add(block("unmap", 140, 0x9000, 1 * kMiB));  // not known to be taken
    phases.add(block("unmap", 145, 0x1000, 32 * kMiB));
    phases.add(block("unmap", 800, 0x2000, 32 * kMiB));
    phases.add(exit_of(900));
    PhaseReport report = phases.report(1000);
    EXPECT_EQ(report.pid, 1u);
    EXPECT_EQ(begins(report),
              (Begins{{"start_up", 5}, {"loading", 100}, {"inference", 145}, {"cleanup", 800}}));
    EXPECT_EQ(report.phases.back().time.end_ns, 900u);
    EXPECT_EQ(report.phases.back().end_evidence, "the process ends");
    EXPECT_EQ(report.phases[1].begin_evidence,
              "model.pt (64.0 MiB) is opened, and read from 110 ns on");
    EXPECT_EQ(report.phases[2].begin_evidence,
              "the last read of model.pt is over, and 32.0 MiB that it needed is freed");
    EXPECT_EQ(report.phases[1].end_evidence, report.phases[2].begin_evidence);
    EXPECT_EQ(report.phases[3].begin_evidence,
              "32.0 MiB in large blocks is freed, and none is taken any more");
    EXPECT_TRUE(report.repetitions.empty());
    EXPECT_FALSE(report.growth);
    EXPECT_EQ(report.at(145)->name, "inference");
    EXPECT_EQ(report.at(4), nullptr);
    EXPECT_EQ(report.at(900), nullptr);
}

TEST(Phases, weights_are_told_by_how_they_begin_where_the_name_says_nothing) {
    for (std::string_view format : {"GGUF", "zip"}) {
        Phases phases;
        phases.add(exec(5));
        phases.add(open(100, 7, "blob"));
        phases.add(file("format", 110, 7, {{"format", format}}));
        phases.add(read(120, 7, 10));
        PhaseReport report = phases.report(1000);
        bool is_weights = format == "GGUF";
        EXPECT_EQ(report.phases[0].name, is_weights ? "start_up" : "run");
        EXPECT_EQ(report.phases.back().end_evidence, "the trace ends");
        EXPECT_EQ(report.phases.back().time.end_ns, 1000u);
        if (is_weights) {
            EXPECT_EQ(begins(report),
                      (Begins{{"start_up", 5}, {"loading", 100}, {"inference", 130}}));
        }
    }
}

TEST(Phases, small_files_beside_the_weights_and_files_that_are_only_opened_are_none) {
    Phases phases;
    phases.add(exec(5));
    phases.add(open(20, 8, "vocabulary.pkl"));
    phases.add(file("read", 21, 8, {{"bytes", int64_t{1000}}}, 1));
    phases.add(open(30, 9, "other.pt"));
    phases.add(open(100, 7, "model.safetensors"));
    phases.add(file("map", 105, 7, {{"bytes", 64 * kMiB}}, 2));
    PhaseReport report = phases.report(1000);
    EXPECT_EQ(begins(report), (Begins{{"start_up", 5}, {"loading", 100}, {"inference", 107}}));
    EXPECT_EQ(report.phases[1].begin_evidence,
              "model.safetensors (64.0 MiB) is opened, and mapped from 105 ns on");
}

TEST(Phases, of_a_job_without_weights_and_marks_there_is_one) {
    Phases phases;
    phases.add(exec(5));
    phases.add(block("map", 10, 0x1000, kMiB));
    phases.add(exit_of(50));
    PhaseReport report = phases.report(100);
    EXPECT_EQ(begins(report), (Begins{{"run", 5}}));
    EXPECT_EQ(report.phases[0].begin_evidence, "the process begins; no weights are seen");
    EXPECT_FALSE(Phases().report(10).phases.size());
}

TEST(Phases, repetitions_are_what_repeats_after_loading_and_a_slow_first_one_is_warm_up) {
    Phases phases;
    phases.add(exec(5));
    phases.add(open(100, 7, "model.onnx"));
    phases.add(read(110, 7, 10));
    uint64_t time = 1000;
    for (int i = 0; i < 6; ++i) {
        phases.add(block("map", time, 0x1000, 8 * kMiB));
        time += i == 0 ? 300 : 50;
        phases.add(block("unmap", time, 0x1000, 8 * kMiB));
        time += 50;
    }
    phases.add(exit_of(2000));
    PhaseReport report = phases.report(3000);
    EXPECT_EQ(begins(report),
              (Begins{{"start_up", 5}, {"loading", 100}, {"warm_up", 120}, {"inference", 1350}}));
    ASSERT_EQ(report.repetitions.size(), 6u);
    EXPECT_EQ(report.repetitions[1].begin_ns, 1350u);
    EXPECT_EQ(report.repetitions[1].end_ns, 1450u);
    EXPECT_EQ(report.repetition_evidence,
              "2 changes of large blocks of memory come again and again, 6 times");
}

TEST(Phases, repetitions_that_nothing_comes_before_are_inference_from_the_end_of_loading_on) {
    Phases phases;
    phases.add(exec(5));
    phases.add(open(100, 7, "model.onnx"));
    phases.add(read(110, 7, 10));
    for (uint64_t time = 1000; time < 1600; time += 100) {
        phases.add(block("map", time, 0x1000, 8 * kMiB));
        phases.add(block("unmap", time + 50, 0x1000, 8 * kMiB));
    }
    EXPECT_EQ(begins(phases.report(3000)),
              (Begins{{"start_up", 5}, {"loading", 100}, {"inference", 120}}));
}

TEST(Phases, marks_of_the_program_win) {
    Phases phases;
    phases.add(exec(5, 2));
    phases.add(exec(6));
    phases.add(open(100, 7, "model.pt", 2));
    phases.add(read(110, 7, 10, 2));
    phases.add(mark(200, "load\n and what was in the buffer"));
    for (uint64_t i = 0; i < 12; ++i) phases.add(mark(300 + 100 * i, "step\n"));
    phases.add(mark(1500, "done\n"));
    phases.add(mark(1550, "\n"));
    phases.add(exit_of(1600));
    PhaseReport report = phases.report(2000);
    EXPECT_EQ(report.pid, 1u);
    EXPECT_EQ(begins(report),
              (Begins{{"start_up", 6}, {"load", 200}, {"step", 300}, {"done", 1500}}));
    ASSERT_EQ(report.repetitions.size(), 12u);
    EXPECT_EQ(report.repetitions.back().begin_ns, 1400u);
    EXPECT_EQ(report.repetitions.back().end_ns, 1500u);
    EXPECT_EQ(report.repetition_evidence, "the same mark comes 12 times");
}

}  // namespace
}  // namespace mlbcc::phases
