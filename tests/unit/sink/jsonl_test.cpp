#include <rapidjson/document.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "event/test_plan.h"
#include "sink/golden.h"
#include "sink/sink.h"

namespace mlbcc::sink {
namespace {

using namespace mlbcc::test;
namespace fs = std::filesystem;

constexpr uint64_t kStart = 5'000'000'000;
constexpr uint64_t kMs = 1'000'000;

class Jsonls : public testing::Test {
protected:
    Jsonls() : path(fs::temp_directory_path() / fmt::format("mlbcc-jsonl-{}.jsonl", getpid())) {
        info.tool = "mlbcc 0.1.0";
        info.start = "2026-11-20T12:00:00.000000Z";
        info.kernel = "6.18.44";
        info.arch = "x86_64";
        info.command = {"python3", "app.py"};
        info.rules = {"cuda.rules"};
        info.start_ns = kStart;
    }
    ~Jsonls() override { fs::remove(path); }
    std::string written() const { return read_all(path); }
    std::vector<std::string> lines() const {
        std::vector<std::string> out;
        std::istringstream text(written());
        for (std::string line; std::getline(text, line);) out.push_back(line);
        return out;
    }
    // The line of one record, written by a pipeline.
    std::string line_of(Wire record) {
        auto sink = open_jsonl(path, info, t.plan);
        event::Pipeline pipeline(t.plan, **sink);
        pipeline.add(2, record);
        pipeline.finish();
        EXPECT_TRUE((*sink)->flush().ok());
        return lines().at(1);
    }
    TestPlan t;
    TraceInfo info;
    std::string path;
};

struct SampleProbes {
    plan::ProbeId init, ioctl, alloc;
};

SampleProbes add_sample_probes(TestPlan& t) {
    t.plan.rules[0].place = "cuda.rules:12";
    plan::ProbeId init = t.probe("cuInit"), ioctl = t.probe("nvidia_unlocked_ioctl");
    plan::ProbeId alloc = t.probe("cuMemAlloc", "cuMemAlloc_v2");
    plan::ValueType result = t.enumeration({{"CUDA_SUCCESS", 0}});
    t.returns(init, result);
    t.span(init, "userspace", {{"Flags", t.number(init, End::entry, kU32)}});
    t.returns(ioctl, kI32);
    t.span(ioctl, "kernel", {{"cmd", t.number(ioctl, End::entry, kHex)}});
    t.returns(alloc, result);
    t.event(alloc, End::ret, "memory", "alloc",
            {{"address", t.number(alloc, End::ret, kHex)},
             {"size", t.number(alloc, End::ret, kBytes)}});
    return {init, ioctl, alloc};
}

TraceEnd sample_end() {
    TraceEnd end;
    end.time_ns = kStart + 1500 * kMs;
    end.end_reason = "exit";
    end.metrics.losses.push_back({.rule = "cuda.rules:12", .submitted = 5});
    end.metrics.stats.push_back({"cuda.rules:12",
                                 plan::AggregateKind::count,
                                 "Kernel launches",
                                 {},
                                 {{"function", "\"cuLaunchKernel\""}},
                                 42});
    end.metrics.stats.push_back({"cuda.rules:13",
                                 plan::AggregateKind::sum,
                                 "Total memory allocated",
                                 rules::Unit::bytes,
                                 {},
                                 524288000,
                                 15});
    end.metrics.stats.push_back({"cuda.rules:13",
                                 plan::AggregateKind::sum,
                                 "delta",
                                 {},
                                 {},
                                 static_cast<uint64_t>(-5),
                                 2,
                                 true});
    end.metrics.hists.push_back({"cuda.rules:14",
                                 "duration",
                                 rules::Unit::nanoseconds,
                                 {},
                                 847,
                                 15234000,
                                 812,
                                 81200000,
                                 {{512, 1024, 3}, {1024, 2048, 311}}});
    return end;
}

// The sample of docs/events.md.
TEST_F(Jsonls, HaveTheFormOfTheSample) {
    auto [init, ioctl, alloc] = add_sample_probes(t);

    auto sink = open_jsonl(path, info, t.plan);
    ASSERT_TRUE(sink.ok());
    event::Pipeline pipeline(t.plan, **sink);
    pipeline.add(1, Wire::entry(init, kStart + 1 * kMs).number(0));
    pipeline.add(1, Wire::entry(ioctl, kStart + 3 * kMs).number(0xc020462a));
    pipeline.add(1, Wire::ret(ioctl, kStart + 3 * kMs, kStart + 5 * kMs).number(0));
    pipeline.add(1, Wire::ret(init, kStart + 1 * kMs, kStart + 6 * kMs).number(0));
    pipeline.add(1, Wire::ret(alloc, kStart + 7 * kMs, kStart + 7 * kMs + 12500)
                        .number(0)
                        .number(0x7f0000001000)
                        .number(4096));
    pipeline.add_loss({kStart + 9 * kMs, 1, 17, {"cuda.rules:12"}});
    pipeline.finish();

    TraceEnd end = sample_end();
    add_counts(end, pipeline, t.plan, 0);
    Gauge gauge{"cuda.rules:20", "gpu_bytes", rules::Unit::bytes, 70, 4096, 524288000, {}, 1};
    gauge.held.push_back({"\"0x7f00\"", 4096, {"libcuda.so.1:cuMemAlloc_v2+0x0", "app:main+0x10"}});
    end.metrics.gauges.push_back(gauge);
    EXPECT_TRUE((*sink)->finish(end, pipeline.take_event_id()).ok());
    expect_golden("jsonl/sample.jsonl", written());
    for (const std::string& line : lines()) {
        rapidjson::Document document;
        EXPECT_FALSE(document.Parse(line.c_str()).HasParseError()) << line;
    }
}

TEST_F(Jsonls, ASpanHasItsSymbolWhereThatDiffers) {
    plan::ProbeId copy = t.probe("cuMemcpyHtoD", "cuMemcpyHtoD_v2_ptds");
    t.span(copy, "userspace");
    EXPECT_EQ(
        line_of(Wire::entry(copy, kStart + 1).thread(70, 71, "a\"b")),
        R"({"event_id":1,"ts":0.000000001,"type":"userspace","name":"cuMemcpyHtoD","symbol":"cuMemcpyHtoD_v2_ptds","phase":"B","pid":70,"tid":71,"comm":"a\"b","cpu":2})");
}

TEST_F(Jsonls, AnEventWithoutANameHasItsFunctions) {
    plan::ProbeId launch = t.probe("cuLaunchKernel");
    t.event(launch, End::entry, "launch", "",
            {{"name", t.text(launch, End::entry, 16)}, {"p->size", t.text(launch, End::entry, 8)}});
    EXPECT_EQ(
        line_of(Wire::entry(launch, kStart).text("a\xff", 16).text("\xff", 8)),
        R"({"event_id":1,"ts":0.000000000,"type":"launch","name":"cuLaunchKernel","function":"cuLaunchKernel","phase":"i","pid":70,"tid":70,"comm":"python3","cpu":2,"args":{"name":"a\u00ff","p->size":null}})");
}

TEST_F(Jsonls, OneCallInManySaysSo) {
    plan::ProbeId launch = t.probe("cuLaunchKernel");
    t.event(launch, End::entry, "launch", "", {});
    for (plan::RuleInfo& rule : t.plan.rules) rule.sample = 64;
    EXPECT_EQ(
        line_of(Wire::entry(launch, kStart)),
        R"({"event_id":1,"ts":0.000000000,"type":"launch","name":"cuLaunchKernel","function":"cuLaunchKernel","sample":64,"phase":"i","pid":70,"tid":70,"comm":"python3","cpu":2})");
}

TEST_F(Jsonls, ATimeBeforeTheStartIsNegative) {
    plan::ProbeId call = t.probe("f");
    t.event(call, End::ret, "call", "");
    EXPECT_EQ(
        line_of(Wire::ret(call, kStart - 1500, kStart + 500)),
        R"({"event_id":1,"ts":-0.000001500,"type":"call","name":"f","function":"f","phase":"X","pid":70,"tid":70,"comm":"python3","cpu":2,"duration_us":2.000})");
}

TEST_F(Jsonls, WhatGoesOnSaysSo) {
    plan::ProbeId wait = t.probe("off_cpu");
    t.event(wait, End::ret, "sched", "");
    EXPECT_EQ(
        line_of(Wire::ret(wait, kStart, kStart + 2000).goes_on()),
        R"({"event_id":1,"ts":0.000000000,"type":"sched","name":"off_cpu","function":"off_cpu","phase":"X","pid":70,"tid":70,"comm":"python3","cpu":2,"duration_us":2.000,"goes_on":true})");
}

TEST_F(Jsonls, AThreadWithoutANumberOrANameHasItsMembers) {
    plan::ProbeId call = t.probe("f");
    t.event(call, End::entry, "call", "");
    EXPECT_EQ(
        line_of(Wire::entry(call, kStart).thread(0, 0, std::string(16, 0))),
        R"({"event_id":1,"ts":0.000000000,"type":"call","name":"f","function":"f","phase":"i","pid":0,"tid":0,"comm":"","cpu":2})");
}

TEST_F(Jsonls, CommandsNeedNotBeUtf8) {
    info.command = {"./x\xff", "\"q\""};
    auto sink = open_jsonl(path, info, t.plan);
    ASSERT_TRUE(sink.ok());
    EXPECT_EQ(
        lines().at(0),
        R"({"event_id":0,"type":"meta","schema":1,"tool":"mlbcc 0.1.0","start":"2026-11-20T12:00:00.000000Z","host":{"kernel":"6.18.44","arch":"x86_64"},"command":["./x\u00ff","\"q\""],"rules":["cuda.rules"]})");
}

TEST_F(Jsonls, ManyLinesAreAllWritten) {
    plan::ProbeId call = t.probe("f");
    t.event(call, End::entry, "call", "");
    auto sink = open_jsonl(path, info, t.plan);
    event::Pipeline pipeline(t.plan, **sink);
    for (uint64_t i = 1; i <= 20000; ++i) pipeline.add(0, Wire::entry(call, kStart + i));
    pipeline.finish();
    ASSERT_TRUE((*sink)->flush().ok());
    std::vector<std::string> all = lines();
    ASSERT_EQ(all.size(), 20001u);
    EXPECT_TRUE(all[20000].starts_with("{\"event_id\":20000,\"ts\":0.000020000,"));
}

TEST_F(Jsonls, ErrorsOfOpeningAreTold) {
    auto missing = open_jsonl("/no/such/folder/x.jsonl", info, t.plan);
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().message(),
              "cannot create /no/such/folder/x.jsonl: No such file or directory");
    EXPECT_EQ(missing.error().help, "create the folder first, or write elsewhere with `-o FILE`");
    auto full = open_jsonl("/dev/full", info, t.plan);
    ASSERT_FALSE(full.ok());
    EXPECT_EQ(full.error().message(), "cannot write to /dev/full: No space left on device");
    EXPECT_EQ(full.error().help, "make room, or write elsewhere with `-o FILE`");
}

// A disk that is full in the middle of a line: a limit on the file's size cuts the write short.
TEST_F(Jsonls, AFullDiskLeavesWholeLines) {
    plan::ProbeId call = t.probe("f");
    t.event(call, End::entry, "call", "");
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit limit{100'000, 100'000};
        setrlimit(RLIMIT_FSIZE, &limit);
        auto sink = open_jsonl(path, info, t.plan);
        event::Pipeline pipeline(t.plan, **sink);
        for (uint64_t i = 1; i <= 20000; ++i) pipeline.add(0, Wire::entry(call, kStart + i));
        pipeline.finish();
        Result<void> first = (*sink)->flush(), second = (*sink)->flush(),
                     last = (*sink)->finish({}, 20001);
        _exit(!first.ok() && first.error().code == EFBIG && second.ok() && last.ok() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    std::string text = written();
    EXPECT_GT(text.size(), 99'000u);
    EXPECT_LE(text.size(), 100'000u);
    EXPECT_EQ(text.back(), '\n');
    rapidjson::Document document;
    EXPECT_FALSE(document.Parse(lines().back().c_str()).HasParseError());
}

TEST_F(Jsonls, AClosedPipeIsAnError) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    fs::path name = fmt::format("/proc/self/fd/{}", ends[1]);
    std::signal(SIGPIPE, SIG_IGN);
    auto sink = open_jsonl(name, info, t.plan);
    close(ends[1]);
    close(ends[0]);
    ASSERT_TRUE(sink.ok());
    (*sink)->lost({kStart, 0, 1, {}}, 1);
    Result<void> flushed = (*sink)->flush();
    std::signal(SIGPIPE, SIG_DFL);
    ASSERT_FALSE(flushed.ok());
    EXPECT_EQ(flushed.error().code, EPIPE);
    EXPECT_TRUE((*sink)->flush().ok());
}

// What stands before it is of the rules before, what stands behind it of those after.
TEST_F(Jsonls, OtherRulesFromALineOn) {
    add_sample_probes(t);
    TestPlan next;
    plan::ProbeId open = next.probe("open", "", "libc.so.6");
    next.event(open, End::entry, "file", "opened");
    auto sink = open_jsonl(path, info, t.plan);
    Reload reload{.time_ns = kStart + 2000, .number = 1, .why = "cuda.rules changed"};
    reload.rules = {"files.rules"};
    reload.before.events = 7;
    reload.before.metrics.stats = {
        {"cuda.rules:1", plan::AggregateKind::count, "calls", {}, {}, 3, 3}};
    reload.plan = &next.plan;
    (*sink)->reload(reload, 1);
    event::Pipeline pipeline(next.plan, **sink);
    pipeline.take_event_id();
    pipeline.add(0, Wire::entry(open, kStart + 3000));
    pipeline.finish();
    EXPECT_TRUE((*sink)->finish({.time_ns = kStart + 4000, .reloads = 1}, 3).ok());
    rapidjson::Document change;
    ASSERT_FALSE(change.Parse(lines().at(1).c_str()).HasParseError());
    EXPECT_STREQ(change["type"].GetString(), "reload");
    EXPECT_EQ(change["number"].GetUint(), 1u);
    EXPECT_STREQ(change["why"].GetString(), "cuda.rules changed");
    EXPECT_STREQ(change["rules"][0].GetString(), "files.rules");
    EXPECT_EQ(change["before"]["stats"][0]["value"].GetUint(), 3u);
    EXPECT_STREQ(change["before"]["layers"][0]["type"].GetString(), "userspace");
    EXPECT_FALSE(change["before"].HasMember("type"));
    EXPECT_NE(lines().at(2).find(R"("type":"file","name":"opened")"), std::string::npos);
    EXPECT_NE(lines().at(3).find(R"("reloads":1)"), std::string::npos);
    EXPECT_NE(lines().at(3).find(R"("libraries":["libc.so.6"])"), std::string::npos);
}

TEST_F(Jsonls, ATeeGivesToAll) {
    std::vector<std::unique_ptr<Sink>> sinks;
    std::string other = path + ".2";
    sinks.push_back(std::move(*open_jsonl(path, info, t.plan)));
    sinks.push_back(std::move(*open_jsonl(other, info, t.plan)));
    std::unique_ptr<Sink> tee = make_tee(std::move(sinks));
    tee->lost({kStart, 0, 1, {}}, 1);
    EXPECT_TRUE(tee->finish({}, 2).ok());
    EXPECT_EQ(lines().size(), 3u);
    EXPECT_EQ(read_all(other), written());
    fs::remove(other);
}

TEST_F(Jsonls, WhatWasGainedIsALine) {
    auto sink = open_jsonl(path, info, t.plan);
    Sums sums{kStart + 200 * kMs, kStart + 100 * kMs, 100 * kMs, {}, {}};
    sums.stats.push_back(
        {"io.rules:3", plan::AggregateKind::count, "Reads", {}, {{"pid", "70"}}, 12, 12});
    (*sink)->sums(sums, 7);
    EXPECT_TRUE((*sink)->flush().ok());
    EXPECT_EQ(lines().at(1),
              R"({"event_id":7,"ts":0.200000000,"type":"sums","since":0.100000000,)"
              R"("every_us":100000,"stats":[{"rule":"io.rules:3","kind":"count",)"
              R"("label":"Reads","unit":null,"by":{"pid":70},"value":12}],"hists":[]})");
}

}  // namespace
}  // namespace mlbcc::sink
