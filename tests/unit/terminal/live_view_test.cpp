#include "terminal/live_view.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mlbcc::terminal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

sink::TraceEnd counted(uint64_t calls) {
    sink::TraceEnd end;
    end.events = calls;
    end.metrics.functions.push_back({"slow", "libc.so.6", "userspace", calls, calls * 1000, 2000});
    end.metrics.functions.push_back({"fast", "libc.so.6", "userspace", calls * 2, calls, 2});
    return end;
}

TEST(LiveView, Rows) {
    LiveView view("job");
    view.take(counted(100), "", 1'000'000'000, 0);
    view.take(counted(150), "", 2'000'000'000, 0);
    const LiveView::Screen screen = view.draw(10, 80, {});
    ASSERT_EQ(screen.lines.size(), 10u);
    EXPECT_THAT(screen.lines[0], HasSubstr("  50 events/s written  "));
    EXPECT_THAT(screen.lines[1], HasSubstr("[total]"));
    EXPECT_EQ(screen.lines[2].substr(0, 40), "slow                        50       150");
    EXPECT_THAT(screen.lines[3], StartsWith("fast"));
}

TEST(LiveView, WhatIsOnlyCountedWritesNoEvents) {
    LiveView view("job");
    sink::TraceEnd end;
    end.metrics.stats.push_back({.label = "Opens", .calls = 500});
    view.take(end, "", 1'000'000'000, 0);
    const LiveView::Screen screen = view.draw(10, 80, {});
    EXPECT_THAT(screen.lines[0], Not(HasSubstr("events/s")));
    EXPECT_THAT(screen.lines[2], HasSubstr("500"));
}

TEST(LiveView, WhatWasLostStandsOut) {
    LiveView view("job");
    auto is_loss = [](const LiveView::Mark& one) { return one.style == LiveView::Style::loss; };
    sink::TraceEnd end = counted(100);
    view.take(end, "", 1'000'000'000, 0);
    EXPECT_TRUE(std::ranges::none_of(view.draw(10, 80, {}).marks, is_loss));
    end.lost = 12345;
    view.take(end, "", 2'000'000'000, 0);
    const LiveView::Screen screen = view.draw(10, 80, {});
    auto loss = std::ranges::find_if(screen.marks, is_loss);
    ASSERT_NE(loss, screen.marks.end());
    EXPECT_EQ(loss->line, 0u);
    EXPECT_EQ(screen.lines[0].substr(loss->begin, loss->end - loss->begin), "12 345 lost");
}

TEST(LiveView, WhatProbesCost) {
    LiveView view("job");
    sink::TraceEnd end = counted(100);
    view.take(end, "", 1'000'000'000, 0);
    EXPECT_THAT(view.draw(10, 120, {}).lines[0], Not(HasSubstr("probes")));
    end.metrics.cost = sink::TracingCost{50'000'000, 1'000'000'000, {}};
    view.take(end, "", 2'000'000'000, 0);
    LiveView::Screen screen = view.draw(10, 120, {});
    EXPECT_THAT(screen.lines[0], HasSubstr("  probes 5.0 % of its time"));
    EXPECT_EQ(screen.marks[0].style, LiveView::Style::strong);
    EXPECT_NE(screen.marks[1].line, 0u);
    end.metrics.cost->ns = 430'000'000;  // much
    view.take(end, "", 3'000'000'000, 0);
    screen = view.draw(10, 120, {});
    EXPECT_EQ(screen.marks[1].style, LiveView::Style::loss);
    EXPECT_EQ(screen.lines[0].substr(screen.marks[1].begin), "probes 43.0 % of its time");
}

TEST(LiveView, KeysSortFilterAndPause) {
    LiveView view("job");
    view.take(counted(100), "", 1'000'000'000, 0);
    EXPECT_TRUE(view.press('c'));
    EXPECT_THAT(view.draw(10, 80, {}).lines[2], StartsWith("fast"));
    for (char c : {'/', 'L', 'O', 'q'}) EXPECT_TRUE(view.press(c));
    view.press(LiveKey::backspace);
    view.press(LiveKey::enter);
    EXPECT_THAT(view.draw(10, 80, {}).lines[2], StartsWith("slow"));
    EXPECT_TRUE(view.press('p'));
    view.take(counted(900), "", 2'000'000'000, 0);
    EXPECT_THAT(view.draw(10, 80, {}).lines[2], Not(HasSubstr("900")));
    EXPECT_FALSE(view.press('q'));
}

TEST(LiveView, FitsAnySizeAndSteersNoTerminal) {
    LiveView view("j\033[2Jb");
    view.take(counted(1), "", 1'000'000'000, 0);
    for (size_t height = 1; height < 30; ++height) {
        for (size_t width = 1; width < 100; width += 7) {
            const LiveView::Screen screen = view.draw(height, width, {"a\033b"});
            EXPECT_LE(screen.lines.size(), height);
            EXPECT_TRUE(std::ranges::is_sorted(screen.marks, {}, &LiveView::Mark::line));
            for (const std::string& line : screen.lines) {
                EXPECT_LE(line.size(), width);
                EXPECT_EQ(line.find('\033'), std::string::npos);
            }
        }
    }
}

}  // namespace
}  // namespace mlbcc::terminal
