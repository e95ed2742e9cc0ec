// An event is the same to the findings whether it is live or read from the line that was written of
// it.
#include "saved/event_fields.h"

#include <gtest/gtest.h>

#include "event/test_plan.h"

namespace mlbcc::saved {
namespace {

using namespace mlbcc::test;

TEST(EventFields, of_a_line) {
    LineParser parser;
    const Json* line = parser.parse(
        R"({"event_id":1,"ts":1.000000005,"type":"file","name":"open","function":"openat","phase":"X",)"
        R"("pid":7,"tid":8,"comm":"sh","cpu":1,"duration_us":2.500,"ret":3,"args":{"path":"5","size":12,)"
        R"("large":"18446744073709551615","below":-3,"address":"0x7f00","unread":null}})");
    ASSERT_NE(line, nullptr);
    FieldsReader reader;
    const EventFields* one = reader.read(*line);
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(one->type, "file");
    EXPECT_EQ(one->name, "open");
    EXPECT_EQ(one->time_ns, 1'000'000'005u);
    EXPECT_EQ(one->duration_ns, 2500u);
    EXPECT_EQ(one->pid, 7u);
    EXPECT_EQ(one->tid, 8u);
    EXPECT_EQ(one->text("path"), "5") << "text that looks like a number";
    EXPECT_EQ(one->number("size"), 12);
    EXPECT_EQ(static_cast<uint64_t>(one->number("large")), UINT64_MAX);
    EXPECT_EQ(one->number("below"), -3);
    EXPECT_EQ(one->natural("below"), 0u);
    EXPECT_EQ(one->number("address"), 0x7f00);
    EXPECT_FALSE(one->has("unread"));
    EXPECT_EQ(one->number("none"), 0);
    EXPECT_EQ(one->text("none"), "");
}

TEST(EventFields, of_an_event) {
    TestPlan plan;
    plan.event(plan.probe("openat"), End::ret, "file", "open");
    std::vector<event::EmitClause> clauses = event::clauses(plan.plan);
    ASSERT_EQ(clauses.size(), 1u);
    event::Event event;
    event.probe = clauses[0].probe;
    event.emit = clauses[0].emit;
    event.time_ns = 1005;
    event.duration_ns = 9;
    event.pid = 7;
    event.comm = "sh";
    plan::ValueType number{plan::ValueType::Kind::signed_int, 8},
        text{plan::ValueType::Kind::text, 64};
    std::vector<event::NamedValue> values(3);
    values[0] = {"size", {.type = &number, .bits = static_cast<uint64_t>(-4)}};
    values[1] = {"path", {.type = &text, .text = "/a"}};
    values[2] = {"unread", {.type = &number, .unread = true}};
    event.values = values;
    FieldsReader reader;
    const EventFields& one = reader.read(event, 1000);
    EXPECT_EQ(one.type, "file");
    EXPECT_EQ(one.name, "open");
    EXPECT_EQ(one.time_ns, 5u);
    EXPECT_EQ(one.number("size"), -4);
    EXPECT_EQ(one.text("path"), "/a");
    EXPECT_FALSE(one.has("unread"));
    EXPECT_EQ(reader.read(event, 2000).time_ns, 0u) << "before the trace began";
}

}  // namespace
}  // namespace mlbcc::saved
