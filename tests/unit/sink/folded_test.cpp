#include "sink/folded.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sink/golden.h"
#include "sink/sink.h"

namespace mlbcc::sink {
namespace {

using event::Phase;
using Frames = std::vector<std::string_view>;

TEST(FoldedName, IsTheSymbol) {
    EXPECT_EQ(folded_name("libffi.so.8:ffi_call+0x123"), "ffi_call");
    EXPECT_EQ(folded_name("app:ns::T<int>::operator+(int)+0x1f"), "ns::T<int>::operator+(int)");
    EXPECT_EQ(folded_name("[jit]:py::main:app.py+0x6"), "py::main:app.py");
    EXPECT_EQ(folded_name("[vdso]:gettimeofday+0x40"), "gettimeofday");
    EXPECT_EQ(folded_name("cuMemAlloc_v2"), "cuMemAlloc_v2");
}

TEST(FoldedName, WithoutASymbolIsThePlace) {
    EXPECT_EQ(folded_name("libffi.so.8+0x7a31"), "0x7a31 [libffi.so.8]");
    EXPECT_EQ(folded_name("[vdso]+0x40"), "0x40 [vdso]");
    EXPECT_EQ(folded_name("[anon:v8]+0x40"), "0x40 [anon:v8]");
    EXPECT_EQ(folded_name("0x7f2a00001234"), "0x7f2a00001234");
    EXPECT_EQ(folded_name("..."), "...");
}

TEST(FoldedName, OfTheKernelIsMarked) {
    EXPECT_EQ(folded_name("[kernel]:vfs_read+0x2a"), "vfs_read_[k]");
    EXPECT_EQ(folded_name("[kernel:nvidia]:nvidia_ioctl+0x28"), "nvidia_ioctl_[k]");
    EXPECT_EQ(folded_name("[kernel]+0xffffffff81000000"), "0xffffffff81000000 [kernel]_[k]");
}

TEST(FoldedName, IsOneNameOnOneLine) {
    EXPECT_EQ(folded_name("[jit]:a;b\nc\rd+0x6"), "a:b_c_d");
    EXPECT_EQ(folded_name("[jit]:loop 12+0x6"), "loop_12");
    EXPECT_EQ(folded_name("[jit]:loop 1.5+0x6"), "loop_1.5");
    EXPECT_EQ(folded_name("[jit]:12+0x6"), "12");
    EXPECT_EQ(folded_name("int f(int)"), "int f(int)");
    EXPECT_EQ(folded_name("a:+0x"), "+0x");
    EXPECT_EQ(folded_name(""), "?");
    EXPECT_EQ(folded_name("["), "[");
    EXPECT_EQ(folded_name(";"), ":");
    EXPECT_EQ(folded_name("+0x1"), "+0x1");
}

std::string text_of(const FoldedStacks& stacks) {
    std::string text;
    stacks.each_line([&](std::string_view stack, uint64_t weight) {
        text += fmt::format("{} {}\n", stack, weight);
    });
    return text;
}

TEST(FoldedStacks, CallsFromOneFunctionAreOneStack) {
    FoldedStacks stacks;
    for (Frames frames : {Frames{"a:f+0x1", "a:main+0x2"}, Frames{"a:f+0x9", "a:main+0x3"},
                          Frames{"a+0x1", "a:main+0x2"}, Frames{"a+0x9", "a:main+0x2"}}) {
        stacks.add(*stacks.id_of("app", frames, "g"), 2);
    }
    EXPECT_EQ(text_of(stacks), "app;main;0x1 [a];g 2\n"
                               "app;main;0x9 [a];g 2\n"
                               "app;main;f;g 4\n");
}

TEST(FoldedStacks, TakeNoMoreRoomThanTheyMay) {
    FoldedStacks stacks(100'000);
    size_t refused = 0;
    for (int i = 0; i < 10'000; ++i) {
        std::string frame = fmt::format("a:function_{}+0x1", i % 5000);
        auto id = stacks.id_of("app", Frames{frame}, "g");
        id ? stacks.add(*id, 1) : void(++refused);
    }
    EXPECT_GT(stacks.size(), 100u);
    EXPECT_LT(stacks.size(), 1000u);
    EXPECT_EQ(refused + 2 * stacks.size(), 10'000u);
    EXPECT_NE(text_of(stacks).find("app;function_7;g 2\n"), std::string::npos);
}

class FoldedFile : public testing::Test {
protected:
    FoldedFile() : path(testing::TempDir() + fmt::format("mlbcc-{}.folded", getpid())) {
        alloc.symbol = "cuMemAlloc_v2";
        sync.symbol = "cuCtxSynchronize";
    }
    ~FoldedFile() override { std::filesystem::remove(path); }

    void open(FoldedBy by) {
        auto opened = open_folded(path, by, [this](const std::string& note) { notes += note; });
        ASSERT_TRUE(opened);
        sink = std::move(*opened);
    }
    event::Event event(Phase phase, const plan::ProbePlan& probe, Frames frames, uint64_t us = 0) {
        frames_ = std::move(frames);
        event::Event event;
        event.id = ++last_id;
        event.phase = phase;
        event.probe = &probe;
        event.comm = "python3";
        event.duration_ns = us * 1000;
        event.stack = frames_;
        return event;
    }
    // A span: the B has the stack, the E the duration.
    void call(const plan::ProbePlan& probe, Frames frames, uint64_t us) {
        event::Event begin = event(Phase::begin, probe, std::move(frames));
        sink->event(begin);
        event::Event end = event(Phase::end, probe, {}, us);
        end.begin = begin.id;
        sink->event(end);
    }
    void some_calls() {
        call(sync, {"libtorch.so:at::sync()+0x8", "app:main+0x1"}, 1500);
        call(sync, {"libtorch.so:at::sync()+0x8", "app:main+0x2"}, 500);
        sink->event(event(Phase::complete, alloc, {"libtorch.so+0x77", "app:main+0x9"}, 3));
        sink->event(event(Phase::complete, alloc, {"libtorch.so+0x77", "..."}, 4));
        sink->event(event(Phase::instant, alloc, {"app:main+0x9"}));
        sink->event(event(Phase::complete, alloc, {}, 1000));      // has no stack
        sink->event(event(Phase::end, sync, {}, 1000));            // whose B was lost
        sink->event(event(Phase::begin, sync, {"app:last+0x1"}));  // that never returned
    }
    std::string written() {
        EXPECT_TRUE(sink->finish({}, 0).ok());
        return test::read_all(path);
    }

    plan::ProbePlan alloc, sync;
    std::unique_ptr<Sink> sink;
    std::string path, notes;
    uint64_t last_id = 0;

private:
    Frames frames_;
};

TEST_F(FoldedFile, CountsEvents) {
    open(FoldedBy::events);
    some_calls();
    test::expect_golden("folded/events.txt", written());
    EXPECT_EQ(notes, "");
}

TEST_F(FoldedFile, SumsDurations) {
    open(FoldedBy::duration);
    some_calls();
    test::expect_golden("folded/duration.txt", written());
    EXPECT_EQ(notes, "");
}

TEST_F(FoldedFile, ManyShortCallsAreALongTime) {
    open(FoldedBy::duration);
    for (int i = 0; i < 5000; ++i) {
        event::Event one = event(Phase::complete, alloc, {"app:main+0x9"});
        one.duration_ns = 300;
        sink->event(one);
    }
    EXPECT_EQ(written(), "python3;main;cuMemAlloc_v2 1500\n");
}

// What https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources and flamegraph.pl
// take for a line, whatever the names are.
TEST_F(FoldedFile, EachLineIsOneStackAndANumber) {
    open(FoldedBy::events);
    plan::ProbePlan odd;
    odd.symbol = "f;g 5";
    event::Event one = event(Phase::instant, odd, {"a:x\n1 2+0x1", "[jit]:;; 7+0x1", "\n", ""});
    one.comm = "a;b\n 3";
    sink->event(one);
    std::string text = written();
    EXPECT_EQ(text, "a:b__3;?;_;::_7;x_1_2;f:g_5 1\n");
    EXPECT_TRUE(std::regex_match(text, std::regex(R"(([^; ][^;]*;)*[^;]*[^;0-9 ][^; ]* \d+\n)")));
}

TEST_F(FoldedFile, SaysWhyItIsEmpty) {
    open(FoldedBy::events);
    sink->event(event(Phase::complete, alloc, {}, 5));
    EXPECT_EQ(written(), "");
    EXPECT_EQ(notes, "no event has a stack: rules take them with `stack user`");
    notes.clear();
    open(FoldedBy::duration);
    sink->event(event(Phase::instant, alloc, {"app:main+0x9"}));
    EXPECT_EQ(written(), "");
    EXPECT_EQ(notes, "no event has both a stack (`stack user`) and a duration");
}

TEST_F(FoldedFile, OthersStandTogetherWhenItIsFull) {
    open(FoldedBy::events);
    std::string huge(1 << 20, 'x');
    for (int i = 0; i < 100; ++i) {
        std::string frame = fmt::format("a:{}{}+0x1", huge, i);
        sink->event(event(Phase::instant, alloc, {frame}));
    }
    std::string text = written();
    size_t other = text.rfind("[other stacks] ");
    ASSERT_NE(other, std::string::npos);
    size_t lines = static_cast<size_t>(std::ranges::count(text, '\n')) - 1;
    EXPECT_EQ(text.substr(other), fmt::format("[other stacks] {}\n", 100 - lines));
    EXPECT_EQ(notes,
              fmt::format("only {} stacks fit; the others are counted as `[other stacks]`", lines));
}

TEST_F(FoldedFile, CannotBeCreatedNowhere) {
    auto opened = open_folded("/no/such/folder/f", FoldedBy::events, {});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().message(),
              "cannot create /no/such/folder/f: No such file or directory");
    EXPECT_EQ(opened.error().help,
              "create the folder first, or write elsewhere with `--folded FILE`");
}

TEST_F(FoldedFile, AFullDiskIsAnError) {
    path = "/dev/full";
    open(FoldedBy::events);
    path = "";
    sink->event(event(Phase::instant, alloc, {"app:main+0x9"}));
    EXPECT_EQ(sink->finish({}, 0).error().message(),
              "cannot write to /dev/full: No space left on device");
}

}  // namespace
}  // namespace mlbcc::sink
