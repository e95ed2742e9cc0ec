// When processes are looked at, and what has changed since.
#include "account/process_looks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "plan/planned.h"
#include "process/clock.h"

namespace mlbcc::account {
namespace {

using test::Planned;

constexpr uint64_t kSecond = 1'000'000'000;

struct Seen : event::EventConsumer {
    void event(const event::Event& event) override {
        std::vector<int64_t>& values = all.emplace_back();
        for (const event::NamedValue& one : event.values) {
            values.push_back(static_cast<int64_t>(one.value.bits));
        }
        pids.push_back(event.pid);
    }
    std::vector<std::vector<int64_t>> all;
    std::vector<uint32_t> pids;
};

std::vector<int> this_process() {
    return {getpid()};
}

// On a slow machine it takes more than one piece of work.
void look_at_all(ProcessLooks& looks, uint64_t now, const ProcessLooks::Processes& processes,
                 event::Pipeline& pipeline) {
    looks.work(now, processes, pipeline);
    while (looks.patience_ms(now, 1) == 0) looks.work(process::monotonic_ns(), processes, pipeline);
}

TEST(ProcessLooks, WithoutARuleThereIsNothingToWaitFor) {
    const Planned p("on cuda:cuInit { count }");
    ProcessLooks looks(p.plan());
    looks.start(0, true);
    EXPECT_EQ(looks.patience_ms(kSecond, 10), 10);
    EXPECT_FALSE(looks.note());
}

TEST(ProcessLooks, AreDueAfterAPeriod) {
    const Planned p("on interval:1s { event a.b }");
    ProcessLooks looks(p.plan());
    looks.start(kSecond, false);
    EXPECT_EQ(looks.patience_ms(kSecond, 10), 10);
    EXPECT_EQ(looks.patience_ms(2 * kSecond - 3'500'000, 10), 4);
    EXPECT_EQ(looks.patience_ms(2 * kSecond, 10), 0);
    looks.start(kSecond, true);
    EXPECT_EQ(looks.patience_ms(kSecond, 10), 0);
}

TEST(ProcessLooks, SayWhatHasChanged) {
    const Planned p("on interval:1s { event a.b(open_files, open_files_change, elapsed) }");
    ASSERT_EQ(p.messages(), "");
    Seen seen;
    event::Pipeline pipeline(p.plan(), seen);
    ProcessLooks looks(p.plan());
    looks.start(process::monotonic_ns(), true);
    look_at_all(looks, process::monotonic_ns(), this_process, pipeline);
    int more = dup(1);
    looks.start(process::monotonic_ns(), true);
    look_at_all(looks, process::monotonic_ns(), this_process, pipeline);
    close(more);
    looks.start(process::monotonic_ns(), true);
    look_at_all(looks, process::monotonic_ns(), this_process, pipeline);
    pipeline.finish();
    ASSERT_EQ(seen.all.size(), 3u);
    EXPECT_EQ(seen.all[0][1], 0);
    EXPECT_EQ(seen.all[0][2], 0);
    EXPECT_EQ(seen.all[1][0], seen.all[0][0] + 1);
    EXPECT_EQ(seen.all[1][1], 1);
    EXPECT_GT(seen.all[1][2], 0);
    EXPECT_EQ(seen.all[2][1], -1);
}

TEST(ProcessLooks, WhoHasEndedIsNotSeen) {
    const Planned p("on interval:1s { event a.b }");
    Seen seen;
    event::Pipeline pipeline(p.plan(), seen);
    ProcessLooks looks(p.plan());
    looks.start(process::monotonic_ns(), true);
    look_at_all(
        looks, process::monotonic_ns(),
        [] {
            return std::vector<int>{0x3fffffff, getpid()};
        },
        pipeline);
    pipeline.finish();
    EXPECT_EQ(seen.pids, std::vector<uint32_t>{static_cast<uint32_t>(getpid())});
}

TEST(ProcessLooks, ThatComeTooLateAreLeftOutAndSaid) {
    const Planned p("on interval:1s { event a.b }");
    Seen seen;
    event::Pipeline pipeline(p.plan(), seen);
    ProcessLooks looks(p.plan());
    uint64_t now = process::monotonic_ns();
    looks.start(now - now % kSecond - 3 * kSecond, true);
    look_at_all(looks, now, this_process, pipeline);
    pipeline.finish();
    EXPECT_EQ(seen.all.size(), 1u);
    EXPECT_EQ(looks.note(),
              "3 of 4 samples of the processes were not taken in time: use a longer interval");
}

}  // namespace
}  // namespace mlbcc::account
