#include "saved/saved_trace.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "event/test_plan.h"
#include "sink/golden.h"

namespace mlbcc::saved {
namespace {

const std::string kMeta =
    R"({"event_id":0,"type":"meta","schema":1,"tool":"mlbcc 0.1.0","start":"","rules":["a"]})"
    "\n";

// A file of this text, as long as the object lives.
class TestFile {
public:
    explicit TestFile(const std::string& text) {
        int fd = ::mkstemp(path.data());
        ::close(fd);
        std::ofstream(path, std::ios::binary) << text;
    }
    ~TestFile() { ::unlink(path.c_str()); }
    std::string path = "/tmp/saved_trace_XXXXXX";
};

Result<SavedTrace> summary_of(const std::string& path) {
    Result<TraceFile> file = TraceFile::open(path);
    if (!file) return file.error();
    return file->summary();
}

Result<ReadLines> replay_of(const std::string& path, event::EventConsumer& consumer) {
    Result<TraceFile> file = TraceFile::open(path);
    if (!file) return file.error();
    sink::TraceEnd end;
    return file->replay(consumer, end);
}

std::string shown(const SavedTrace& trace) {
    return sink::summary_text(trace.end, 0, trace.layers, 100);
}

std::string report_of(const std::string& text) {
    TestFile file(text);
    Result<SavedTrace> trace = summary_of(file.path);
    return trace ? note_on(*trace, "t.jsonl") + shown(*trace) : "error: " + trace.error().message();
}

std::string error_of(const std::string& text) {
    TestFile file(text);
    Result<SavedTrace> trace = summary_of(file.path);
    if (trace) return "none";
    std::string message = trace.error().message();
    return message.substr(std::min(message.size(), file.path.size()));
}

// ---- with a summary: what the terminal showed

sink::TraceEnd full_end() {
    using plan::AggregateKind;
    constexpr auto kBytes = rules::Unit::bytes;
    constexpr auto kTime = rules::Unit::nanoseconds;
    sink::TraceEnd end;
    end.time_ns = 1'500'000'000;
    end.events = 12480;
    end.lost = 17;
    end.late = 2;
    end.processes = 2;
    end.threads = 3;
    end.malformed = 1;
    end.not_learnt = 4;
    end.not_held = 5;
    end.no_stack = 6;
    end.missed = 7;
    end.end_reason = "interrupted";
    end.metrics.stats = {
        {"a:5", AggregateKind::count, "Calls \"all\" \xff\x01", {}, {}, 847, 847},
        {"a:5", AggregateKind::count, "By", {}, {{"k", "\"x\\u00ff\\n\""}, {"c", "-1"}}, 3, 3},
        {"a:5", AggregateKind::count, "By", {}, {{"k", "null"}, {"c", "true"}}, 9, 9},
        {"a:5", AggregateKind::count, "By", {}, {{"k", "\"9007199254740993\""}, {"c", "0"}}, 1, 1},
        {"a:9", AggregateKind::sum, "Bytes", kBytes, {}, UINT64_MAX, 15},
        {"a:9", AggregateKind::sum, "Balance", {}, {{"cpu", "0"}}, uint64_t(-12480), 3, true},
        {"a:9", AggregateKind::sum, "Balance", {}, {{"cpu", "1"}}, 480, 3, true}};
    end.metrics.hists = {
        {"a:5",
         "Time",
         kTime,
         {},
         4,
         1ull << 60,
         812,
         1ull << 59,
         {{512, 1024, 3}, {1ull << 58, 1ull << 59, 1}}},
        {"a:5", "size", kBytes, {{"f", "\"g\""}}, 1, 4096, 4096, 4096, {{4096, 8192, 1}}}};
    end.metrics.gauges = {{"a:9",
                           "held",
                           kBytes,
                           70,
                           12288,
                           1 << 20,
                           {{"\"0x7f00\"", 8192, {"m:f+0x1", "\xfe"}}, {"5", 4096, {}}},
                           7},
                          {"a:9", "level", {}, 70, -5, -1, {}, 0},
                          {"a:9", "level", {}, 71, 5, 9, {}, 0}};
    sink::LargestOnes::Entry entry{5'000'000, 70, 71, "worker \xff"};
    entry.value = {"gap", "30123000", kTime};
    entry.fields = {{"io", "-2000", kTime},
                    {"until", "\"relu \\u00ff\"", {}},
                    {"known", "null", {}},
                    {"off_in", R"(["libc.so.6:nanosleep+0x12","app:f(a, \"b\")+0x5"])", {}}};
    entry.stack = {"app:g", "app:main"};
    end.metrics.largest = {{"a:9", "Longest gaps", "gap", kTime, 3, {entry, entry}},
                           {"a:9", "None", "size", kBytes, 0, {}}};
    end.metrics.losses = {{"a:5", 100, 17, 83, 3, 1, 1}, {"a:9", 10, 0, 10, 0, 0, 10}};
    end.metrics.functions = {{"cuCtxCreate", "libcuda.so.1", "userspace", 1, 81200000, 81200000},
                             {"cuInit", "libcuda.so.1", "userspace", 12, 300, 90}};
    return end;
}

// The trace that the JSONL sink writes of this end, and the summary sink's text of the same.
struct Written {
    std::string trace, terminal;
};
Written written(const sink::TraceEnd& end) {
    test::TestPlan t;
    TestFile trace(""), terminal("");
    sink::TraceInfo info;
    auto jsonl = sink::open_jsonl(trace.path, info, t.plan);
    std::FILE* file = std::fopen(terminal.path.c_str(), "w");
    EXPECT_TRUE(jsonl && file != nullptr);
    EXPECT_TRUE((*jsonl)->finish(end, 1).ok());
    EXPECT_TRUE(sink::make_summary(::fileno(file), info, t.plan)->finish(end, 1).ok());
    std::fclose(file);
    return {test::read_all(trace.path), test::read_all(terminal.path)};
}

TEST(SavedTrace, IsShownAsTheTerminalDid) {
    Written full = written(full_end());
    EXPECT_GT(full.terminal.size(), 1000u);
    EXPECT_EQ(report_of(full.trace), full.terminal);
    Written empty = written({});
    EXPECT_EQ(report_of(empty.trace), empty.terminal);
}

TEST(SavedTrace, IsFoundBehindManyEvents) {
    std::string events;
    for (int i = 0; i < 3000; ++i)
        events += R"({"event_id":1,"ts":0.1,"type":"u","name":"f","phase":"i","pid":1,"tid":1})"
                  "\n";
    Written full = written(full_end());
    size_t line = full.trace.find('\n') + 1;
    std::string whole = full.trace.substr(0, line) + events + full.trace.substr(line);
    EXPECT_EQ(report_of(whole), full.terminal);
    EXPECT_EQ(report_of(whole.substr(0, whole.size() - 1)), full.terminal);  // no last newline
    EXPECT_EQ(report_of(whole + "more\n"), full.terminal);
}

TEST(SavedTrace, MembersOfOtherTypesAreLeftOut) {
    EXPECT_EQ(report_of(kMeta + R"({"type":"summary","ts":"x","events":-1,"stats":{},"hists":[1],)"
                                R"("gauges":[{"held":[7,{}]}],"losses":[null],"layers":3})"
                                "\n"),
              "=== TRACE SUMMARY ===  0.00 s, 0 processes, 0 threads, 0 events, 0 lost\n\n"
              "OTHER\n"
              "                                0 still held, peak 0\n"
              "               0  null\n");
}

// ---- without one

const std::string kEvents =
    R"({"event_id":1,"ts":0.001000000,"type":"userspace","name":"cuInit","phase":"B","pid":70,"tid":70,"comm":"p","cpu":1}
{"event_id":2,"ts":0.002000000,"type":"memory","name":"alloc","function":"cuMemAlloc","symbol":"cuMemAlloc_v2","phase":"X","pid":70,"tid":71,"comm":"p","cpu":1,"duration_us":12.500}
{"event_id":3,"ts":0.003000000,"type":"memory","name":"alloc","function":"cuMemAlloc","phase":"X","pid":70,"tid":71,"comm":"p","cpu":1,"duration_us":7.500}
{"event_id":4,"ts":0.006000000,"type":"userspace","name":"cuInit","phase":"E","pid":70,"tid":70,"comm":"p","cpu":1,"begin":1,"duration_us":5000.000,"ret":"CUDA_SUCCESS"}
{"event_id":5,"ts":0.006000000,"type":"trace","name":"init","function":"cuInit","phase":"X","pid":70,"tid":70,"comm":"p","cpu":1,"duration_us":5000.000}
{"event_id":6,"ts":0.009000000,"type":"lost","cpu":1,"count":17,"rules":["cuda.rules:12"]}
)";
const std::string kShown =
    "=== TRACE SUMMARY ===  0.01 s, 1 process, 2 threads, 6 events, 17 lost\n\n"
    "USERSPACE\n"
    "  slowest: cuInit 5.00 ms, cuMemAlloc 12.5 us (2 calls, 20.0 us)\n";
const std::string kUnknown =
    "   = note: only its events are shown; counts, sums and histograms are missing\n";
const std::string kCut =
    "note: t.jsonl has no summary: it was cut after event 6, or is still being written\n" +
    kUnknown;

TEST(SavedTrace, WithoutASummaryIsWhatTheEventsTell) {
    EXPECT_EQ(report_of(kMeta + kEvents), kCut + kShown);
}

TEST(SavedTrace, ALastLineCutInTheMiddleIsNoEvent) {
    EXPECT_EQ(report_of(kMeta + kEvents + R"({"event_id":7,"ts":0.0100)"), kCut + kShown);
    EXPECT_EQ(
        report_of(kMeta + kEvents + R"({"event_id":7,"ts":0.01,"type":"summary","events":6,)"),
        kCut + kShown);
}

TEST(SavedTrace, DamagedLinesAreCounted) {
    EXPECT_EQ(report_of(kMeta + "[]\n" + std::string(100000, '[') + "\n" + kEvents),
              kCut + "   = note: 2 lines were left out: not JSON objects\n" + kShown);
}

TEST(SavedTrace, OfNoEvents) {
    EXPECT_EQ(report_of(kMeta),
              "note: t.jsonl has no summary: it was cut before its first event, or is still being "
              "written\n" +
                  kUnknown +
                  "=== TRACE SUMMARY ===  0.00 s, 0 processes, 0 threads, 0 events, 0 lost\n");
}

TEST(SavedTrace, AnEventMayBeNamedLikeALineOfTheTrace) {
    std::string text = report_of(
        kMeta + R"({"event_id":1,"ts":2,"type":"summary","name":"x","phase":"i","pid":1,"tid":1})"
                "\n"
                R"({"event_id":2,"ts":2,"type":"lost","name":"x","phase":"i","pid":2,"tid":2})"
                "\n");
    EXPECT_NE(text.find("  2.00 s, 2 processes, 2 threads, 2 events, 0 lost\n"), text.npos) << text;
}

// ---- no traces

TEST(SavedTrace, WhatIsNoTraceIsRefused) {
    EXPECT_EQ(error_of(""), ": the file is empty, not a trace");
    EXPECT_EQ(error_of("not json\n"), ": not a trace: its first line is not a JSON object");
    EXPECT_EQ(error_of(kMeta.substr(0, 40)), ": not a trace: its first line is not a JSON object");
    EXPECT_EQ(error_of(kEvents), ": not a trace: its first line is not the `meta` line");
    EXPECT_EQ(error_of("{\"event_id\":0,\"type\":\"meta\",\"schema\":99}\n"),
              ": a trace of another schema than 1");
    EXPECT_EQ(error_of(std::string(10, '\0')),
              ": not a trace: its first line is not a JSON object");
}

TEST(SavedTrace, WhatCannotBeReadIsNamed) {
    EXPECT_EQ(summary_of("/no/such.jsonl").error().message(),
              "/no/such.jsonl: No such file or directory");
    EXPECT_EQ(summary_of("/tmp").error().message(), "/tmp: cannot read: Is a directory");
}

// ---- event by event

// "4 E cuInit/cuInit begin=1 took=5000000"
class Told : public event::EventConsumer {
public:
    void event(const event::Event& event) override {
        text += fmt::format("{} {} {}/{} {}", event.id, "BEXi"[static_cast<int>(event.phase)],
                            event.probe->function, event.probe->symbol, event.comm);
        if (event.begin) text += fmt::format(" begin={}", *event.begin);
        if (event.duration_ns > 0) text += fmt::format(" took={}", event.duration_ns);
        for (std::string_view frame : event.stack) text += fmt::format(" <{}", frame);
        text += '\n';
    }
    std::string text;
};

TEST(Replay, GivesTheEventsOfATrace) {
    TestFile file(
        kMeta + kEvents +
        R"({"event_id":7,"ts":0.01,"type":"a","name":"b","function":"f","phase":"i","pid":70,)"
        R"("tid":70,"comm":"\u00ff","cpu":1,"stack":["a:g+0x1","[jit]:;\u0000+0x2","..."]})"
        "\n[]\n{\"event_id\":8,\"ts\":0.02,\"type\":\"summary\",\"events\":7}\n");
    Told told;
    Result<ReadLines> read = replay_of(file.path, told);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->damaged, 1u);
    EXPECT_FALSE(read->cut);
    using namespace std::string_literals;
    EXPECT_EQ(told.text, "1 B cuInit/cuInit p\n"
                         "2 X cuMemAlloc/cuMemAlloc_v2 p took=12500\n"
                         "3 X cuMemAlloc/cuMemAlloc p took=7500\n"
                         "4 E cuInit/cuInit p begin=1 took=5000000\n"
                         "5 X cuInit/cuInit p took=5000000\n"
                         "7 i f/f \xff <a:g+0x1 <[jit]:;\0+0x2 <...\n"s);
}

TEST(Replay, TakesWhatEventsAreNot) {
    TestFile file(kMeta + R"({"phase":"BE"})"
                          "\n"
                          R"({"phase":""})"
                          "\n"
                          R"({"phase":"i","stack":[1,{}],"comm":7,"begin":-1})"
                          "\n"
                          R"({"phase":"X")");
    Told told;
    Result<ReadLines> read = replay_of(file.path, told);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->damaged, 0u);
    EXPECT_TRUE(read->cut);
    EXPECT_EQ(told.text, "0 i /  begin=0 < <\n");
}

TEST(Replay, OfNoTraceIsRefused) {
    Told told;
    EXPECT_EQ(replay_of("/no/such.jsonl", told).error().message(),
              "/no/such.jsonl: No such file or directory");
    TestFile file("not json\n");
    EXPECT_EQ(replay_of(file.path, told).error().message(),
              file.path + ": not a trace: its first line is not a JSON object");
}

// ---- packed by zstd, told by how the file begins

std::string packed(const std::string& text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
}

TEST(Packed, IsReadAsTextIs) {
    EXPECT_EQ(report_of(packed(kMeta + kEvents)), report_of(kMeta + kEvents));
    // Frames may follow one another (RFC 8878, 3.1).
    EXPECT_EQ(report_of(packed(kMeta) + packed(kEvents)), report_of(kMeta + kEvents));
}

TEST(Packed, ACutFileIsReadAsFarAsItGoes) {
    std::string text = kMeta;
    for (int i = 1; i <= 20000; ++i) {
        text +=
            fmt::format("{{\"event_id\":{},\"ts\":{}.5,\"phase\":\"i\"}}\n", i, i * 7919 % 65537);
    }
    std::string whole = packed(text);
    TestFile file(whole.substr(0, whole.size() / 2));
    Told told;
    Result<ReadLines> read = replay_of(file.path, told);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->damaged, 0u);
    auto events = std::count(told.text.begin(), told.text.end(), '\n');
    EXPECT_GT(events, 0);
    EXPECT_LT(events, 20000);
    EXPECT_TRUE(told.text.starts_with("1 i /"));
}

TEST(Packed, DamageIsAnError) {
    std::string text = packed(kMeta + kEvents);
    text[5] = '\xff';
    text[6] = '\xff';
    TestFile file(text);
    Told told;
    Result<ReadLines> read = replay_of(file.path, told);
    ASSERT_FALSE(read);
    EXPECT_TRUE(read.error().message().starts_with(file.path + ": cannot be unpacked: "));
}

}  // namespace
}  // namespace mlbcc::saved
