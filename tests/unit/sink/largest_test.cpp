// The largest as a table for a terminal, and as JSON.
#include <gtest/gtest.h>

#include "event/test_plan.h"
#include "sink/jsonl_records.h"
#include "sink/summary_text.h"

namespace mlbcc::sink {
namespace {

using namespace mlbcc::test;
constexpr auto kTime = rules::Unit::nanoseconds;

LargestOnes::Entry entry(uint64_t time_ns, uint32_t tid, std::string value) {
    LargestOnes::Entry out{time_ns, 70, tid, "python3"};
    out.value = {"gap", std::move(value), kTime};
    return out;
}

LargestOnes sample() {
    LargestOnes list{"a.rules:5", "Longest gaps", "gap", kTime, 41, {}};
    LargestOnes::Entry& first = list.entries.emplace_back(entry(31'000'000, 70, "30123000"));
    first.fields = {{"io", "0", kTime},
                    {"until", "\"relu\"", {}},
                    {"off_in", R"(["libc.so.6:nanosleep+0x12","app:idle(a, \"b\")+0x5"])", {}}};
    LargestOnes::Entry& second = list.entries.emplace_back(entry(1'250'000'000, 71, "2000000"));
    second.fields = {{"io", "1999000", kTime}, {"until", "null", {}}, {"off_in", "\"\"", {}}};
    second.stack = {"app:launch+0x1", "app:main+0x2"};
    return list;
}

std::string table(const LargestOnes& list, size_t width = 100) {
    Rows rows(width);
    add_largest(rows, list);
    return "\n" + rows.text();
}

TEST(LargestTable, HasAlignedColumnsWithUnits) {
    EXPECT_EQ(table(sample()), R"(
  Longest gaps                 41
        gap       io  until       at  thread
    30.1 ms     0 ns  relu   0.031 s  python3 70
        off_in: libc.so.6:nanosleep < app:idle(a, "b")
    2.00 ms  2.00 ms  null   1.250 s  python3 70/71
        stack: app:launch < app:main
)");
}

TEST(LargestTable, BreaksStacks) {
    LargestOnes list = sample();
    list.entries.pop_back();
    EXPECT_EQ(table(list, 40), R"(
  Longest gaps  41
        gap    io  until       at  thread
    30.1 ms  0 ns  relu   0.031 s  python3 70
        off_in: libc.so.6:nanosleep <
            app:idle(a, "b")
)");
}

TEST(LargestTable, OfNothingIsALine) {
    EXPECT_EQ(table({"a.rules:5", "Longest gaps", "gap", kTime, 0, {}}), R"(
  Longest gaps                  0
)");
}

TEST(LargestTable, StandsInTheSummaryOfItsLayer) {
    TraceEnd end;
    end.metrics.largest.push_back(sample());
    std::string text = summary_text(end, 0, {{"scheduler", {}, {"a.rules:5"}}}, 100);
    EXPECT_NE(text.find("\nSCHEDULER\n  Longest gaps   "), std::string::npos) << text;
    text = summary_text(end, 0, {}, 100);
    EXPECT_NE(text.find("\nOTHER\n  Longest gaps   "), std::string::npos) << text;
}

TEST(LargestJson, HasValuesUnitsAndStacks) {
    TraceEnd end;
    end.metrics.largest.push_back(sample());
    Buffer out(1000);
    write_summary_members(out, end, {});
    std::string text(out.view());
    size_t at = text.find("\"largest\":");
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(
        text.substr(at, text.find(",\"losses\"") - at),
        R"("largest":[{"rule":"a.rules:5","label":"Longest gaps","by":"gap","unit":"ns","calls":41,"units":{"io":"ns"},"entries":[)"
        R"({"value":30123000,"ts":0.031000000,"pid":70,"tid":70,"comm":"python3","args":{"io":0,"until":"relu","off_in":["libc.so.6:nanosleep+0x12","app:idle(a, \"b\")+0x5"]}},)"
        R"({"value":2000000,"ts":1.250000000,"pid":70,"tid":71,"comm":"python3","args":{"io":1999000,"until":null,"off_in":""},"stack":["app:launch+0x1","app:main+0x2"]}]}])");
}

TEST(LargestCounts, AreThePipelines) {
    TestPlan t;
    plan::ProbeId use = t.probe("use");
    uint32_t bytes = t.number(use, End::ret, kBytes), handle = t.number(use, End::ret, kHex);
    t.plan.lists.push_back({{}, "Sizes", "bytes", 2, rules::Unit::bytes, false});
    plan::LargestEmit emit{{},
                           t.late(use, End::ret, bytes),
                           {{"bytes", bytes, 1, nullptr}, {"h", handle, 1, nullptr}}};
    t.emit(use, End::ret, std::move(emit));
    event::EventConsumer nobody;
    event::Pipeline pipeline(t.plan, nobody);
    pipeline.add(0, Wire::ret(use, 110, 130).number(4096).number(0x10));
    pipeline.finish();
    TraceEnd end;
    add_counts(end, pipeline, t.plan, 100);
    ASSERT_EQ(end.metrics.largest.size(), 1u);
    const LargestOnes& list = end.metrics.largest[0];
    EXPECT_EQ(list.rule, "cuda.rules:1");
    EXPECT_EQ(list.calls, 1u);
    ASSERT_EQ(list.entries.size(), 1u);
    EXPECT_EQ(list.entries[0].time_ns, 10u);
    EXPECT_EQ(list.entries[0].value.json, "4096");
    ASSERT_EQ(list.entries[0].fields.size(), 2u);
    EXPECT_EQ(list.entries[0].fields[0].unit, rules::Unit::bytes);
    EXPECT_EQ(list.entries[0].fields[1].json, "\"0x10\"");
}

}  // namespace
}  // namespace mlbcc::sink
