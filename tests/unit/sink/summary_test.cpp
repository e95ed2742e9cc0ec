#include <unistd.h>

#include <gtest/gtest.h>

#include "event/test_plan.h"
#include "sink/golden.h"
#include "sink/layers.h"
#include "sink/summary_text.h"

namespace mlbcc::sink {
namespace {

using namespace mlbcc::test;
using plan::AggregateKind;
constexpr auto kSize = rules::Unit::bytes;
constexpr auto kTime = rules::Unit::nanoseconds;

const std::vector<Layer> kLayers = {
    {"userspace", {"libcuda.so.1"}, {"cuda.rules:5", "cuda.rules:12", "cuda.rules:20"}},
    {"kernel", {}, {"cuda.rules:40"}},
};

TraceEnd sample_end() {
    TraceEnd end;
    end.time_ns = 1'500'000'000;
    end.events = 12480;
    end.processes = 1;
    end.threads = 3;
    end.end_reason = "exit";
    MetricSnapshot& m = end.metrics;
    m.stats = {
        {"cuda.rules:5", AggregateKind::count, "Total CUDA API calls", {}, {}, 847},
        {"cuda.rules:12", AggregateKind::count, "Kernel launches", {}, {}, 42},
        {"cuda.rules:20", AggregateKind::sum, "Total memory allocated", kSize, {}, 524288000, 15},
        {"cuda.rules:12", AggregateKind::sum, "Data transferred", kSize, {}, 1 << 30, 128}};
    m.gauges = {{"cuda.rules:20", "gpu_bytes", kSize, 70, 0, 524288000, {}, 0}};
    m.hists = {{"cuda.rules:40",
                "IOCTL calls",
                kTime,
                {},
                1024,
                15234000,
                812,
                81200000,
                {{512, 1024, 3},
                 {1024, 2048, 311},
                 {2048, 4096, 600},
                 {16384, 32768, 100},
                 {67108864, 134217728, 10}}}};
    m.functions = {{"cuCtxCreate", "libcuda.so.1", "userspace", 1, 81200000, 81200000},
                   {"cuMemcpyHtoD", "libcuda.so.1", "userspace", 128, 20300000, 5120000},
                   {"nvidia_unlocked_ioctl", "", "kernel", 1024, 15234000, 81200}};
    return end;
}

std::string text_of(const TraceEnd& end, size_t width = 100) {
    return summary_text(end, 0, kLayers, width);
}

TEST(Summary, SaysWhatTracingCost) {
    TraceEnd end = sample_end();
    EXPECT_EQ(text_of(end).find("TRACING COST"), std::string::npos) << "it is not known";
    end.metrics.cost = TracingCost{900'000'000,
                                   2'100'000'000,
                                   {{"cuCtxGetDevice", "libcuda.so.1", 402070, 680'000'000, true},
                                    {"cuLaunchKernel", "libcuda.so.1", 30000, 150'000'000, false},
                                    {"cuMemAlloc", "libcuda.so.1", 12, 20'000, true}}};
    EXPECT_NE(text_of(end).find("\nTRACING COST\n"
                                "  about 900 ms of 2.10 s of CPU time (43 %)\n"
                                "    cuCtxGetDevice 680 ms in 402 070 calls; leave it out with "
                                "`except cuCtxGetDevice`\n"
                                "    cuLaunchKernel 150 ms in 30 000 calls\n"),
              std::string::npos)
        << text_of(end);
    EXPECT_EQ(text_of(end).find("cuMemAlloc 20"), std::string::npos) << "a trifle";
    EXPECT_EQ(text_of(end).find("most of it tracing"), std::string::npos);
    // 158.6 us a call, as cuMemcpyHtoD took by what was measured.
    end.metrics.cost->functions.push_back({"cuMemcpyHtoD", "libcuda.so.1", 256, 20'480'000, false});
    EXPECT_NE(text_of(end).find("\n    cuMemcpyHtoD took 159 us a call, most of it tracing (about "
                                "80.0 us a call)\n"),
              std::string::npos)
        << text_of(end);
    end.metrics.cost->cpu_ns.reset();
    EXPECT_NE(text_of(end).find("  about 900 ms of CPU time\n"), std::string::npos);
}

TEST(Summary, SaysWhereTheTimeOfCallsWent) {
    TraceEnd end;
    end.metrics.nested = {
        {"cuInit",
         "libcuda.so.1",
         "userspace",
         1,
         1'250'000,
         400'000,
         {{"nvidia", 820'000}, {"sched.off_cpu", 30'000}}},
        {"cuMemAlloc", "libcuda.so.1", "userspace", 8, 9'300, 9'000, {{"nvidia", 300}}}};
    EXPECT_EQ(
        summary_text(end, 0, {}, 100),
        "=== TRACE SUMMARY ===  0.00 s, 0 processes, 0 threads, 0 events, 0 lost\n"
        "\n"
        "WHERE THE TIME OF CALLS WENT\n"
        "  cuInit                        1.250 ms in 1 call: nvidia 820 us, sched.off_cpu 30.0 us, "
        "itself 400 us\n"
        "  cuMemAlloc                    9.300 us in 8 calls: nvidia 300 ns, itself 9.00 us\n");
}

TEST(Summary, HasTheFormOfTheSample) {
    expect_golden("summary/sample.txt", text_of(sample_end()));
}

TEST(Summary, ShowsGroupsLeaksLossesAndNotes) {
    TraceEnd end = sample_end();
    end.lost = 17;
    end.late = 2;
    end.missed = 1250;
    end.malformed = 1;
    end.processes = 2;
    end.end_reason = "interrupted";
    MetricSnapshot& m = end.metrics;
    m.stats.clear();
    for (uint64_t i = 0; i < 13; ++i) {
        std::string name =
            i == 3 ? "void "
                     "cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4>(Params)"
                   : "kernel_" + std::to_string(i);
        m.stats.push_back({"cuda.rules:12",
                           AggregateKind::count,
                           "Kernel launches",
                           {},
                           {{"kernel[f]", "\"" + name + "\""}},
                           i * i * 100});
    }
    m.stats.push_back({"cuda.rules:12",
                       AggregateKind::sum,
                       "balance",
                       {},
                       {{"cpu", "0"}, {"comm", "\"python3\""}},
                       static_cast<uint64_t>(-12480),
                       3,
                       true});
    m.hists[0].by = {{"cmd", "\"0xc020462a\""}};
    m.hists.push_back({"cuda.rules:40",
                       "IOCTL calls",
                       kTime,
                       {{"cmd", "\"0xc8\""}},
                       7,
                       7000,
                       1000,
                       1000,
                       {{512, 1024, 7}}});
    m.hists.push_back(
        {"cuda.rules:12", "size", kSize, {}, 3, 12288, 4096, 4096, {{4096, 8192, 3}}});
    Gauge& leak = m.gauges[0];
    leak.value = 3 * 4096 + 100;
    leak.held = {{"\"0x7f0000002000\"", 8192, {"libffi.so.8+0x7a31", "app:main+0x10"}},
                 {"\"0x7f0000001000\"", 4096, {"libffi.so.8+0x7a31", "app:main+0x10"}},
                 {"5", 100, {}}};
    leak.held_count = 3;
    m.gauges.push_back({"cuda.rules:20", "gpu_bytes", kSize, 71, 0, 4096, {}, 0});
    m.losses = {{"cuda.rules:5", 12480, 17, 12463, 3, 1, 1},
                {"cuda.rules:12", 10, 0, 10, 0, 0, 10}};
    expect_golden("summary/all.txt", text_of(end));
}

// The program's own function is there, or Python's; names without what nobody reads; 20 lines at
// most.
TEST(Summary, SixHoldersAreTwentyLines) {
    TraceEnd end;
    Gauge gauge{"a.rules:1", "gpu_bytes", rules::Unit::bytes, 71, 600, 600, {}, 6};
    for (int i = 0; i < 7; ++i) {
        gauge.held.push_back(
            {fmt::format("\"{:#x}\"", i),
             100,
             {"libtorch.so:at::f<float, std::less<int> >(c10::ArrayRef<long>)+0x6f",
              "libtorch.so:g(int)+0x1", i == 0 ? "train.py:step" : "app:main+0x10",
              fmt::format("libc.so.6:start+{:#x}", i), "..."}});
    }
    gauge.at_peak.function = "cuMemAlloc";
    end.metrics.gauges = {gauge};
    const std::string text = text_of(end);
    EXPECT_EQ(std::ranges::count(text.substr(text.find("    peak")), '\n'), 20);
    const std::string innermost = "                  libtorch.so:at::f<...>(...)+0x6f < ...\n";
    EXPECT_NE(text.find("0x0\n" + innermost + "                  train.py:step < ...\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("0x5\n" + innermost + "                  app:main+0x10 < ...\n"),
              std::string::npos);
    EXPECT_NE(text.find("    and 1 more\n"), std::string::npos);
}

// The two innermost frames, and Python's from its innermost on: what is between has no room.
TEST(Summary, AStackOfPythonShowsItsLines) {
    TraceEnd end;
    Gauge gauge{"a.rules:1", "gpu_bytes", rules::Unit::bytes, 71, 600, 600, {}, 1};
    gauge.held = {
        {"\"0x0\"",
         600,
         {"libffi.so:ffi_call+0x1", "_ctypes.so+0x2", "_ctypes.so+0x3", "python3:PyObject_Call+0x4",
          "app.py:leak", "app.py:infer", "app.py:main", "app.py:<module>", "runpy.py:run"}}};
    end.metrics.gauges = {gauge};
    const std::string text = text_of(end);
    EXPECT_NE(text.find("                  libffi.so:ffi_call+0x1\n"
                        "                  _ctypes.so+0x2 < ...\n"
                        "                  app.py:leak\n"
                        "                  app.py:infer\n"
                        "                  app.py:main\n"
                        "                  app.py:<module>\n"
                        "                  runpy.py:run\n"),
              std::string::npos)
        << text;
}

TEST(Summary, SaysWhatShareEachGroupOfACountHas) {
    TraceEnd end;
    Stat plain{"x.rules:1", AggregateKind::count, "forms", {}, {{"form", "\"plain\""}}, 3};
    Stat graph = plain;
    graph.by[0].second = "\"graph\"";
    graph.value = 1;
    end.metrics.stats = {plain, graph};
    EXPECT_EQ(
        text_of(end),
        "=== TRACE SUMMARY ===  0.00 s, 0 processes, 0 threads, 0 events, 0 lost\n\n"
        "OTHER\n  forms                         4\n    plain                       3 (75.0 %)\n"
        "    graph                       1 (25.0 %)\n");
}

// Beside the whole where calls lay within calls; of what two rules call by one name it is not
// known.
TEST(Summary, SaysHowMuchOfDurationsIsOwnTime) {
    TraceEnd end;
    Stat outer{"x.rules:1",
               AggregateKind::sum,
               "time",
               rules::Unit::nanoseconds,
               {{"function", "\"outer\""}},
               40'000'000,
               10};
    outer.own = 20'000'000;
    Stat leaf = outer;
    leaf.by[0].second = "\"leaf\"";
    leaf.value = leaf.own.emplace(20'000'000);
    end.metrics.stats = {outer, leaf};
    EXPECT_NE(
        text_of(end).find("  time                         60.000 ms in 20 calls, own 40.0 ms\n"
                          "    outer                      40.000 ms in 10 calls, own 20.0 ms\n"
                          "    leaf                       20.000 ms in 10 calls\n"),
        std::string::npos)
        << text_of(end);
    end.metrics.stats[1].rule = "x.rules:2";
    end.metrics.stats[0].is_named = end.metrics.stats[1].is_named = true;
    EXPECT_NE(
        text_of(end).find("  time                         60.000 ms in 20 calls\n"
                          "    outer                      40.000 ms in 10 calls, own 20.0 ms\n"),
        std::string::npos)
        << text_of(end);
}

TEST(Summary, SaysWhichFunctionsOfLargeLibrariesWereCalled) {
    TraceEnd end;
    end.metrics.coverage = {{"libcuda.so.1", 347, {"cuInit", "cuMemAlloc_v2"}, false},
                            {"libfew.so", 8, {"one"}, false},
                            {"libmany.so", 1200, {}, true}};
    EXPECT_EQ(text_of(end),
              "=== TRACE SUMMARY ===  0.00 s, 0 processes, 0 threads, 0 events, 0 lost\n\n"
              "FUNCTIONS THAT WERE CALLED\n"
              "  libcuda.so.1                  2 of 347 traced\n"
              "  libmany.so                    0 of 1200 traced, by calls that ended\n");
}

TEST(Summary, SaysWhatIsLeftOut) {
    TraceEnd end;
    end.metrics.left_out = {{"libcuda.so.1", "calls that only ask", 118}};
    const std::string row = "  libcuda.so.1                118 left out: calls that only ask\n";
    EXPECT_NE(text_of(end).find("\nFUNCTIONS LEFT OUT\n" + row), std::string::npos);
    end.metrics.coverage = {{"libcuda.so.1", 347, {"cuInit"}, false}};
    EXPECT_NE(text_of(end).find("\nFUNCTIONS THAT WERE CALLED\n"
                                "  libcuda.so.1                  1 of 347 traced\n" +
                                row),
              std::string::npos)
        << text_of(end);
}

TEST(Summary, OfNothingIsOneLine) {
    EXPECT_EQ(text_of({}),
              "=== TRACE SUMMARY ===  0.00 s, 0 processes, 0 threads, 0 events, 0 lost\n");
}

TEST(Summary, KeepsToItsWidth) {
    TraceEnd end = sample_end();
    for (int i = 0; i < 8; ++i)
        end.metrics.functions.push_back(
            {"cuSomeLongFunctionName" + std::to_string(i), "", "userspace", 12, 99, 99});
    std::string text = text_of(end, 80);
    for (size_t at = 0; at < text.size();) {
        size_t next = text.find('\n', at);
        EXPECT_LE(next - at, 80u) << text.substr(at, next - at);
        at = next + 1;
    }
}

TEST(Summary, MetricsOfUnknownRulesAreNotDropped) {
    TraceEnd end;
    end.metrics.stats = {{"x.rules:1", AggregateKind::count, "calls", {}, {}, 3}};
    EXPECT_EQ(text_of(end),
              "=== TRACE SUMMARY ===  0.00 s, 0 processes, 0 threads, 0 events, 0 lost\n\n"
              "OTHER\n  calls                         3\n");
}

TEST(Summary, GoesToItsDescriptor) {
    TestPlan t;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    auto sink = make_summary(ends[1], {}, t.plan);
    EXPECT_TRUE(sink->finish({}, 1).ok());
    close(ends[1]);
    char text[200];
    ssize_t got = read(ends[0], text, sizeof text);
    close(ends[0]);
    EXPECT_EQ(std::string_view(text, static_cast<size_t>(got)),
              "=== TRACE SUMMARY ===  0.00 s, 0 processes, 0 threads, 0 events, 0 lost\n");
}

TEST(Layers, AreTheTypesOfTheFunctionsSpans) {
    TestPlan t;
    t.rule("cuda.rules:9");
    plan::ProbeId init = t.probe("cuInit"), alloc = t.probe("cuMemAlloc"),
                  step = t.probe("step", "", "libmylib.so");
    t.span(init, "driver");
    t.event(alloc, End::ret, "memory", "alloc");
    t.span(step, "driver");
    t.plan.probes[0].parts.resize(1);
    std::vector<Layer> layers = layers_of(t.plan);
    ASSERT_EQ(layers.size(), 2u);
    EXPECT_EQ(layers[0].type, "driver");
    EXPECT_EQ(layers[0].libraries, (std::vector<std::string>{"libcuda.so.1", "libmylib.so"}));
    EXPECT_EQ(layers[0].rules, (std::vector<std::string>{"cuda.rules:1"}));
    EXPECT_EQ(layers[1].type, "userspace");
    EXPECT_EQ(layers[1].rules, (std::vector<std::string>{"cuda.rules:9"}));
}

TEST(Counts, AreThePipelines) {
    TestPlan t;
    plan::ProbeId one = t.probe("cuMemAlloc"), two = t.probe("cuMemAlloc", "cuMemAlloc_v2");
    for (plan::ProbeId probe : {one, two}) {
        uint32_t key = t.number(probe, End::ret, kHex), size = t.number(probe, End::ret, kBytes);
        t.span(probe, "userspace");
        t.gauge(probe, End::ret, "gpu_bytes", rules::GaugeOp::set, key, size);
    }
    event::EventConsumer nobody;
    event::Pipeline pipeline(t.plan, nobody);
    pipeline.add(0, Wire::entry(one, 10));
    pipeline.add(0, Wire::ret(one, 10, 30).number(0x10).number(4096));
    pipeline.add(0, Wire::ret(two, 40, 50).number(0x20).number(4));
    pipeline.finish();
    TraceEnd end;
    end.metrics.losses.push_back({.rule = "cuda.rules:1", .submitted = 9, .lost = 6});
    add_counts(end, pipeline, t.plan, 0);
    ASSERT_EQ(end.metrics.losses.size(), 1u);
    EXPECT_EQ(end.metrics.losses[0].submitted, 9u);
    EXPECT_EQ(end.metrics.losses[0].received, 3u);
    EXPECT_EQ(end.metrics.losses[0].unmatched_end, 1u);
    ASSERT_EQ(end.metrics.functions.size(), 1u);
    EXPECT_EQ(end.metrics.functions[0].calls, 2u);
    EXPECT_EQ(end.metrics.functions[0].total_ns, 30u);
    EXPECT_EQ(end.metrics.functions[0].max_ns, 20u);
    ASSERT_EQ(end.metrics.gauges.size(), 1u);
    EXPECT_EQ(end.metrics.gauges[0].value, 4100);
    EXPECT_EQ(end.metrics.gauges[0].held.at(0).key, "\"0x10\"");
    EXPECT_EQ(end.events, 3u);
}

}  // namespace
}  // namespace mlbcc::sink
