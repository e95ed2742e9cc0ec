// What the tracer computes itself: expressions as C has them, and records, counts and histograms of
// looks at processes.
#include "event/looks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "event/pipeline.h"
#include "plan/planned.h"

namespace mlbcc::event {
namespace {

using test::Planned;

constexpr uint32_t kResident = 1, kVirtual = 2, kThreads = 8;

// A process with 64 MiB, of 1 GiB of addresses, and 4 threads. It has shrunk by 1000 bytes.
struct Process {
    Process() {
        values[0] = 100'000'000;
        values[kResident] = 64 << 20;
        values[kVirtual] = 1 << 30;
        values[kThreads] = 4;
        values[target::kProcessFieldCount + kResident - 1] = -1000;
    }
    Look look() const { return {plan::ProbeId{0}, 5000, 70, 69, 3, comm, values, unread}; }
    std::array<int64_t, target::kProcessValueCount> values{};
    uint64_t unread = 0;
    std::string comm = "python3";
};

// The value of an expression of a rule, as an event shows it.
std::string value(const std::string& expr, const Process& process = {}) {
    const Planned p("on interval:1s { event a.b(x = " + expr + ") }");
    if (!p.messages().empty()) return p.messages();
    struct Consumer : EventConsumer {
        void event(const Event& event) override {
            const Value& value = event.values[0].value;
            bool text = value.type->kind == plan::ValueType::Kind::comm ||
                        value.type->kind == plan::ValueType::Kind::text ||
                        value.type->kind == plan::ValueType::Kind::function;
            shown = value.unread ? "null"
                    : text       ? std::string(value.text)
                                 : std::to_string(static_cast<int64_t>(value.bits));
            if (value.type->kind == plan::ValueType::Kind::unsigned_int) {
                shown = std::to_string(value.bits);
            }
        }
        std::string shown = "no event";
    } consumer;
    Pipeline pipeline(p.plan(), consumer);
    pipeline.add_look(process.look());
    pipeline.finish();
    return consumer.shown;
}

TEST(Evaluate, Names) {
    EXPECT_EQ(value("resident"), "67108864");
    EXPECT_EQ(value("resident_change"), "-1000");
    EXPECT_EQ(value("pid"), "70");
    EXPECT_EQ(value("tid"), "70");
    EXPECT_EQ(value("ppid"), "69");
    EXPECT_EQ(value("cpu"), "3");
    EXPECT_EQ(value("time"), "5000");
    EXPECT_EQ(value("comm"), "python3");
    EXPECT_EQ(value("function"), "interval");
    EXPECT_EQ(value("\"text\""), "text");
}

TEST(Evaluate, Operators) {
    EXPECT_EQ(value("resident / 1MiB + threads * 2"), "72");
    EXPECT_EQ(value("resident - virtual"), "-1006632960");
    EXPECT_EQ(value("resident_change / 7"), "-142");
    EXPECT_EQ(value("resident_change % 7"), "-6");
    EXPECT_EQ(value("resident / 0"), "0");
    EXPECT_EQ(value("resident % (threads - 4)"), "0");
    EXPECT_EQ(value("resident_change >> 1"), "-500");
    EXPECT_EQ(value("threads << 3 | 1"), "33");
    EXPECT_EQ(value("threads & 6 ^ 1"), "5");
    EXPECT_EQ(value("-threads"), "-4");
    EXPECT_EQ(value("~threads"), "-5");
    EXPECT_EQ(value("!threads"), "0");
    EXPECT_EQ(value("resident_change < threads"), "1");
    EXPECT_EQ(value("resident >= 64MiB && threads != 4"), "0");
    EXPECT_EQ(value("threads == 5 || threads <= 4"), "1");
    EXPECT_EQ(value("threads > 3 ? virtual : resident"), "1073741824");
}

TEST(Evaluate, AnUnsignedSideMakesItUnsigned) {
    EXPECT_EQ(value("time > resident_change"), "0") << "as in C";
    EXPECT_EQ(value("time / 2"), "2500");
    EXPECT_EQ(value("0xff - time"), "18446744073709546871");
}

TEST(Evaluate, Text) {
    EXPECT_EQ(value("comm == \"python3\""), "1");
    EXPECT_EQ(value("comm != \"python3\""), "0");
    EXPECT_EQ(value("comm == \"python\""), "0");
    EXPECT_EQ(value("starts_with(comm, \"python\")"), "1");
}

TEST(Evaluate, WhatCouldNotBeReadIsNull) {
    Process process;
    process.unread = 1u << kResident;
    EXPECT_EQ(value("resident", process), "null");
    EXPECT_EQ(value("resident + threads", process), "null");
    EXPECT_EQ(value("threads", process), "4");
}

// ---- what rules make of a look

// The names of the events that looks give.
struct Names : EventConsumer {
    void event(const Event& event) override {
        names.push_back(std::get<plan::EventEmit>(event.emit->what).name);
    }
    std::vector<std::string> names;
};

TEST(Looks, AreRecords) {
    const Planned p("on interval:1s { event a.b(threads) }");
    Looks looks(p.plan());
    Process process;
    Record record(looks.take(process.look()));
    EXPECT_EQ(record.hits(), 1u);
    EXPECT_EQ(record.header.time_ns, 5000u);
    EXPECT_EQ(record.header.pid, 70u);
    EXPECT_EQ(record.header.tid, 70u);
    EXPECT_EQ(record.comm(), "python3");
    EXPECT_EQ(looks.submitted(plan::RuleId{0}), 1u);
}

TEST(Looks, AreEventsOfTheRulesWhoseConditionsHold) {
    const Planned p("on interval:1s { where threads > 4   event a.many }\n"
                    "on interval:1s { where threads == 4 && comm == \"python3\"   event a.four }\n"
                    "on interval:1s { where resident < 0   count }");
    EXPECT_EQ(p.messages(), "");
    Names names;
    Pipeline pipeline(p.plan(), names);
    Process process;
    pipeline.add_look(process.look());
    process.values[kThreads] = 1;
    pipeline.add_look(process.look());
    pipeline.finish();
    EXPECT_EQ(names.names, std::vector<std::string>{"four"});
    EXPECT_TRUE(pipeline.tallied(plan::AggregateId{0}).empty());
}

TEST(Looks, AConditionOnWhatIsUnreadDoesNotHold) {
    const Planned p("on interval:1s { where resident >= 0 || threads > 0   event a.b }");
    Names names;
    Pipeline pipeline(p.plan(), names);
    Process process;
    process.unread = 1u << kResident;
    pipeline.add_look(process.look());
    pipeline.finish();
    EXPECT_TRUE(names.names.empty());
}

TEST(Looks, AreCountedSummedAndMeasured) {
    const Planned p("on interval:1s { count   sum resident_change   hist resident by comm }");
    EXPECT_EQ(p.messages(), "");
    Names names;
    Pipeline pipeline(p.plan(), names);
    Process process;
    pipeline.add_look(process.look());
    process.values[kResident] = 3;
    pipeline.add_look(process.look());
    process.comm = "sh";
    process.unread = 1u << kResident;
    pipeline.add_look(process.look());
    pipeline.finish();
    EXPECT_EQ(pipeline.tallied(plan::AggregateId{0}).at(0).count, 3u);
    EXPECT_EQ(static_cast<int64_t>(pipeline.tallied(plan::AggregateId{1}).at(0).sum), -3000);
    std::vector<TallyGroup> hist = pipeline.tallied(plan::AggregateId{2});
    ASSERT_EQ(hist.size(), 1u) << "of `sh` the value is not known";
    EXPECT_EQ(hist[0].by.at(0).text, "python3");
    EXPECT_EQ(hist[0].count, 2u);
    EXPECT_EQ(hist[0].min, 3u);
    EXPECT_EQ(hist[0].max, 64u << 20);
    EXPECT_EQ(hist[0].buckets[2], 1u);
    EXPECT_EQ(hist[0].buckets[27], 1u);
}

TEST(Looks, AreInNoCallOfTheMainThread) {
    const Planned p("on cuda:cuInit { span userspace }   on interval:1s { event a.b }");
    EXPECT_EQ(p.messages(), "");
    struct Consumer : EventConsumer {
        void event(const Event& event) override {
            has_parent = event.parent.has_value();
            cpu = event.cpu;
            phase = event.phase;
        }
        bool has_parent = true;
        uint32_t cpu = 0;
        Phase phase = Phase::begin;
    } consumer;
    Pipeline pipeline(p.plan(), consumer);
    plan::RecordHeader begin{};
    begin.time_ns = 4000;
    begin.probe = static_cast<uint32_t>(p.probe("cuInit").id);
    begin.what = 1u << 8;
    begin.pid = begin.tid = 70;
    begin.sp = 1u << 20;
    pipeline.add(0, std::as_bytes(std::span(&begin, 1)));
    Process process;
    Look look = process.look();
    look.probe = p.probe("interval").id;
    pipeline.add_look(look);
    pipeline.finish();
    EXPECT_EQ(consumer.phase, Phase::instant);
    EXPECT_FALSE(consumer.has_parent);
    EXPECT_EQ(consumer.cpu, 3u);
    EXPECT_EQ(pipeline.counts(plan::RuleId{1}).received, 1u);
}

}  // namespace
}  // namespace mlbcc::event
