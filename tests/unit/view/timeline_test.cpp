#include <gtest/gtest.h>

#include <deque>

#include "view/time_columns.h"
#include "view/view.h"

namespace mlbcc::view {
namespace {

constexpr uint64_t kMs = 1'000'000;

// Calls by hand, in milliseconds; each is told when it is over, as Spans tells it.
class Trace {
public:
    explicit Trace(CallSelection wanted = {}) : drawing_(draw_timeline(wanted)) {}

    void call(std::string_view type, std::string_view name, uint64_t from, uint64_t to,
              size_t depth = 0, uint32_t tid = 70) {
        DrawnEvent& record = next(type, name, from, tid);
        record.phase = event::Phase::begin;
        drawing_->slice({&record, nullptr, from * kMs, to * kMs, Missing::nothing, depth});
    }
    void whole(std::string_view type, std::string_view name, uint64_t from, uint64_t to) {
        DrawnEvent& record = next(type, name, from, 70);
        record.phase = event::Phase::complete;
        drawing_->slice({&record, nullptr, from * kMs, to * kMs, Missing::nothing, 0});
    }
    void moment(std::string_view type, std::string_view name, uint64_t at) {
        drawing_->instant(next(type, name, at, 70));
    }
    void lost(uint64_t at, uint64_t count) { drawing_->lost({at * kMs, count, 0, {}}); }

    std::string text(uint64_t end, TimelineLook look = {80, false, true}, uint64_t lost = 0) {
        EXPECT_TRUE(drawing_->finish({end * kMs, lost, 0, true}));
        return drawing_->text(look);
    }
    bool is_empty() const { return drawing_->is_empty(); }

private:
    DrawnEvent& next(std::string_view type, std::string_view name, uint64_t at, uint32_t tid) {
        DrawnEvent& record = records_.emplace_back();
        record.pid = 70;
        record.tid = tid;
        record.comm = "python3";
        record.type = type;
        record.name = name;
        record.time_ns = at * kMs;
        return record;
    }
    std::unique_ptr<Timeline> drawing_;
    std::deque<DrawnEvent> records_;
};

// Of 80 characters, 12 are the label and two the edges: 66 columns.
TEST(Timeline, LanesLevelsAndWhatIsInThem) {
    Trace trace;
    trace.call("userspace", "cuMemcpyHtoD", 130, 390, 1);
    trace.call("userspace", "cuInit", 0, 400);
    trace.call("userspace", "cuLaunchKernel", 450, 451);
    trace.call("userspace", "cuCtxSynchronize", 500, 508);
    trace.whole("memory", "alloc", 100, 300);
    trace.whole("memory", "inner", 120, 250);
    trace.moment("signal", "deliver", 640);
    trace.call("kernel", "nvidia_ioctl", 600, 660, 0, 71);
    trace.lost(200, 17);
    EXPECT_EQ(
        trace.text(660, {80, false, true}, 17),
        R"(=== TIMELINE ===  0.0 ms to 660.0 ms of 660 ms, 2 threads, 8 calls, 17 lost; a column is 10.0 ms

             |0 ms               |200 ms             |400 ms             |600 ms
70/70 python3
  userspace |[cuInit--------------------------------]     '    #               |
            |             [cuMemcpyHtoD------------]                           |
  signal    |                                                                , |
  memory    |          [alloc-------------]                                    |
            |            [inner------]                                         |
70/71 python3
  kernel    |                                                            [nvid]|
  lost      |                    !                                             |

  kernel    nvidia_ioctl 1 in 60.0 ms
  memory    alloc 1 in 200 ms, inner 1 in 130 ms
  signal    deliver 1
  userspace cuInit 1 in 400 ms, cuMemcpyHtoD 1 in 260 ms, cuCtxSynchronize 1 in 8.00 ms, and 1 more
  [name] one call; .:=# shorter ones, by their part of the time; ' launches; , moments
)");
}

TEST(Timeline, AWindowOfIt) {
    CallSelection wanted;
    wanted.from_ns = 100 * kMs;
    wanted.to_ns = 166 * kMs;
    Trace trace(wanted);
    trace.call("u", "before", 0, 99);
    trace.call("u", "around", 50, 133);
    trace.call("u", "behind", 166, 180);
    std::string text = trace.text(1000, {76, false, true});
    EXPECT_NE(text.find("=== TIMELINE ===  100.00 ms to 166.00 ms of 1.00 s, 1 thread, 1 call,"),
              text.npos)
        << text;
    EXPECT_NE(text.find("|100 ms"), text.npos) << text;
    EXPECT_NE(text.find("|[around-------------------------]"), text.npos) << text;
    EXPECT_EQ(text.find("before"), text.npos);
    EXPECT_EQ(text.find("behind"), text.npos);
}

TEST(Timeline, AWindowThatEndsBehindTheTrace) {
    CallSelection wanted;
    wanted.to_ns = 100'000 * kMs;
    Trace trace(wanted), whole;
    for (Trace* one : {&trace, &whole}) one->call("u", "short", 10, 20);
    EXPECT_EQ(trace.text(100), whole.text(100));
}

TEST(Timeline, IsFromTheFirstToTheLastCall) {
    Trace trace;
    trace.call("u", "inner", 50'100, 50'200);
    trace.call("u", "outer", 50'000, 50'400);
    std::string text = trace.text(100'000, {60, false, true});
    EXPECT_NE(text.find("=== TIMELINE ===  50.0000 s to 50.4000 s of 100 s, 1 thread, 2 calls"),
              text.npos)
        << text;
    EXPECT_NE(text.find("[outer-"), text.npos) << text;
    EXPECT_NE(text.find("-]|\n"), text.npos) << text;
}

TEST(Timeline, OnlyWhatIsChosen) {
    CallSelection wanted;
    wanted.types = {"mem*"};
    wanted.name = "al*";
    Trace trace(wanted);
    trace.call("memory", "free", 0, 10);
    trace.call("user", "alloc", 0, 10);
    EXPECT_TRUE(trace.is_empty());
    trace.call("memory", "alloc", 0, 10);
    EXPECT_FALSE(trace.is_empty());
    EXPECT_NE(trace.text(10).find("1 thread, 1 call,"), std::string::npos);
}

TEST(Timeline, TheBusiestThreads) {
    CallSelection wanted;
    wanted.top = 2;
    Trace trace(wanted);
    for (uint32_t tid = 1; tid <= 4; ++tid) {
        for (uint32_t i = 0; i < (tid == 2 ? 9 : tid); ++i)
            trace.call("u", "f", 10 * i, 10 * i + 5, 0, tid);
    }
    std::string text = trace.text(100);
    EXPECT_LT(text.find("70/2 python3\n"), text.find("70/4 python3\n"));
    EXPECT_EQ(text.find("70/1 "), text.npos);
    EXPECT_NE(text.find("and 2 threads (--top)\n"), text.npos) << text;
}

TEST(Timeline, WhoLaunchesComesFirstAndWhoSleptIsALine) {
    Trace trace;
    trace.call("file", "read", 0, 100, 0, 70);
    trace.call("userspace", "cuLaunchKernel", 0, 10, 0, 80);
    for (uint32_t tid : {71, 72, 73}) trace.call("off_cpu", "wait", 0, 990, 0, tid);
    trace.call("memory", "map", 0, 1, 0, 72);  // as threads do first
    for (uint64_t at : {0, 200, 400}) trace.call("off_cpu", "wait", at, at + 100, 0, 74);
    const std::string text = trace.text(1000);
    const size_t launches = text.find("70/80 python3\n"), reads = text.find("70/70 python3\n"),
                 waits = text.find("70/74 python3\n");
    EXPECT_LT(launches, reads);
    EXPECT_LT(reads, waits);
    EXPECT_NE(waits, std::string::npos) << "between its waits it computes";
    EXPECT_NE(text.find("\n3 threads slept from their beginning to their end\n"), std::string::npos)
        << text;
    EXPECT_EQ(text.find("70/72"), std::string::npos);
    EXPECT_EQ(text.find("(--top)"), std::string::npos) << "they are not those that found no place";
}

TEST(Timeline, ColorsAndTextThatSteersTerminals) {
    Trace trace;
    trace.call("u", "a\x1b[2Jb", 0, 100);
    std::string plain = trace.text(100), colored = trace.text(100, {80, true, false});
    EXPECT_NE(plain.find("[a\\x1b[2Jb-"), plain.npos) << plain;
    EXPECT_EQ(plain.find('\x1b'), plain.npos);
    EXPECT_NE(colored.find("\x1b[32m├a\\x1b[2Jb─"), colored.npos) << colored;
    EXPECT_NE(colored.find("┤\x1b[0m│\n"), colored.npos) << colored;
}

TEST(TimeColumns, TwoBecomeOneWhereTimeIsLong) {
    TimeColumns columns(0, UINT64_MAX);
    TimeRow row;
    ASSERT_TRUE(columns.reach(1'000'000));
    EXPECT_EQ(columns.cell_ns(), 1000u);
    for (uint64_t i = 0; i < 1000; ++i) row.add_call(columns, i * 1000, i * 1000 + 500, i + 1, 0);
    ASSERT_TRUE(columns.reach(100'000'000));
    EXPECT_EQ(columns.cell_ns(), 128'000u);
    row.add_call(columns, 50'000'000, 100'000'000, 2000, 1);
    std::vector<TimeRow::Column> shown = row.shown(columns, 0, 100'000'000, 100);
    EXPECT_NEAR(shown[0].busy, 0.5, 0.1);
    EXPECT_EQ(shown[10].busy, 0);
    EXPECT_EQ(shown[99].all.call, 2000u);
    EXPECT_NEAR(shown[70].busy, 1, 1e-9);
    uint64_t busy = 0;
    for (const auto& one : row.shown(columns, 0, 100'000'000, 20)) busy += one.all.busy_ns;
    EXPECT_EQ(busy, 500'000u + 50'000'000u);
    EXPECT_FALSE(TimeColumns(5, 10).reach(10));
    EXPECT_FALSE(TimeColumns(5, 10).reach(4));
}

TEST(TimeColumns, BeginWithTheFirstMomentAndGrowToEitherSide) {
    constexpr uint64_t kAt = 10'000'000'000;
    TimeColumns columns({}, UINT64_MAX);
    TimeRow row;
    const auto add = [&](uint64_t begin_ns, uint64_t end_ns, uint64_t call) {
        ASSERT_TRUE(columns.reach(begin_ns) && columns.reach(end_ns));
        row.add_call(columns, begin_ns, end_ns, call, 0);
    };
    add(kAt, kAt + 500'000, 1);
    EXPECT_EQ(columns.cell_ns(), 1000u);
    EXPECT_EQ(columns.begin_of(0), static_cast<int64_t>(kAt));
    add(kAt - 800'000, kAt - 300'000, 2);  // an outer call, which is told when it ends
    EXPECT_EQ(columns.cell_ns(), 2000u);
    add(kAt + 1'000'000, kAt + 1'500'000, 3);
    const auto shown = row.shown(columns, kAt - 800'000, kAt + 1'500'000, 23);
    const auto call_at = [&](size_t column) { return shown[column].all.call; };
    for (size_t column : {0, 4}) EXPECT_EQ(call_at(column), 2u) << column;
    for (size_t column : {8, 12}) EXPECT_EQ(call_at(column), 1u) << column;
    for (size_t column : {18, 22}) EXPECT_EQ(call_at(column), 3u) << column;
    for (size_t column : {6, 14, 16}) EXPECT_EQ(shown[column].busy, 0) << column;
    uint64_t busy = 0;
    for (const auto& one : shown) busy += one.all.busy_ns;
    EXPECT_EQ(busy, 1'500'000u);
    add(3, 4, 4);  // cells begin before the trace does
    EXPECT_LE(columns.begin_of(0), 3);
    EXPECT_EQ(row.shown(columns, 3, kAt + 1'500'000, 100)[0].all.call, 4u);
}

}  // namespace
}  // namespace mlbcc::view
