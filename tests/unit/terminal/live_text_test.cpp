#include "terminal/live_text.h"

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "event/test_plan.h"

namespace mlbcc::terminal {
namespace {

using namespace mlbcc::test;
using Lines = std::vector<std::string>;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kEpoch = 43'200'000'000'000;  // noon

class LiveTexts : public testing::Test, private event::EventConsumer {
protected:
    LiveTexts() {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
        init = t.probe("cuInit");
        alloc = t.probe("cuMemAlloc", "cuMemAlloc_v2");
        mark = t.probe("mark");
        plan::ValueType result = t.enumeration({{"CUDA_SUCCESS", 0}});
        t.returns(init, result);
        t.span(init, "userspace", {{"Flags", t.number(init, End::entry, kU32)}},
               {{"count", t.number(init, End::ret, kU32)}});
        t.returns(alloc, result);
        t.event(
            alloc, End::ret, "memory", "alloc",
            {{"address", t.number(alloc, End::ret, kHex)}, {"file", t.text(alloc, End::ret, 8)}});
        t.event(mark, End::entry, "mark", "", {});
    }
    void begin(LiveFilter filter = {}) { text.emplace(t.plan, std::move(filter), kEpoch); }
    Lines lines_of(std::initializer_list<Wire> records) {
        event::Pipeline pipeline(t.plan, *this);
        for (const Wire& record : records) pipeline.add(1, record);
        pipeline.finish();
        return std::exchange(lines, {});
    }
    void event(const event::Event& event) override {
        if (std::string line = text->event(event); !line.empty()) lines.push_back(line);
    }
    Wire init_begins() { return Wire::entry(init, 1 * kMs).number(7); }
    Wire init_ends() { return Wire::ret(init, 1 * kMs, 6 * kMs).number(0).number(3); }
    Wire alloc_is_called() {
        return Wire::ret(alloc, 7 * kMs, 7 * kMs + 12500)
            .thread(70, 71, "a\x1b")
            .number(0)
            .number(0x7f0000001000)
            .text("\x1b\"", 8);
    }

    TestPlan t;
    plan::ProbeId init, alloc, mark;
    std::optional<LiveText> text;
    Lines lines;
};

constexpr const char* kInit =
    "12:00:00.001000 python3 70                5.00 ms userspace cuInit(Flags=7, count=3) = "
    "CUDA_SUCCESS\n";
constexpr const char* kAlloc =
    "12:00:00.007000 a\\u001b 70/71             12.5 us memory.alloc "
    "cuMemAlloc(address=0x7f0000001000, file=\"\\u001b\\\"\") = CUDA_SUCCESS\n";
constexpr const char* kMark = "12:00:00.009000 python3 70                        mark mark()\n";

TEST_F(LiveTexts, ALineIsACall) {
    begin();
    EXPECT_EQ(lines_of({init_begins(), init_ends(), alloc_is_called(), Wire::entry(mark, 9 * kMs)}),
              Lines({kInit, kAlloc, kMark}));
}

TEST_F(LiveTexts, AreChosenByTypeAndDuration) {
    const auto chosen = [&](LiveFilter filter) {
        begin(std::move(filter));
        return lines_of(
            {init_begins(), init_ends(), alloc_is_called(), Wire::entry(mark, 9 * kMs)});
    };
    EXPECT_EQ(chosen({{"m*"}, 0}), Lines({kAlloc, kMark}));
    EXPECT_EQ(chosen({{"mark", "user*"}, 0}), Lines({kInit, kMark}));
    EXPECT_EQ(chosen({{}, 12500}), Lines({kInit, kAlloc}));
    EXPECT_EQ(chosen({{}, 12501}), Lines({kInit}));
    EXPECT_EQ(chosen({{"m*"}, kMs}), Lines());
}

TEST_F(LiveTexts, ACallThatIsNotOverHasALineOnce) {
    begin();
    EXPECT_EQ(lines_of({init_begins()}), Lines());
    EXPECT_EQ(text->open_since(kMs - 1), Lines());
    EXPECT_EQ(text->open_since(kMs),
              Lines({"12:00:00.001000 python3 70                        userspace cuInit(Flags=7) "
                     "<unfinished>\n"}));
    EXPECT_EQ(text->open_since(2 * kMs), Lines());
}

TEST_F(LiveTexts, AnEndWhoseBeginWasLostHasWhatItKnows) {
    begin();
    const Lines lines = lines_of({init_ends()});
    EXPECT_EQ(lines.size(), 1u);
    EXPECT_NE(lines.at(0).find("cuInit(count=3) = CUDA_SUCCESS"), std::string::npos) << lines[0];
}

TEST_F(LiveTexts, LossesAreTold) {
    EXPECT_EQ(LiveText::lost({0, 3, 1200, {"a.rules:1"}}),
              "--- 1200 events lost: the event buffer of CPU 3 was full ---\n");
}

}  // namespace
}  // namespace mlbcc::terminal
