// The unwinder on stacks that are cut off, damaged or made up.
#include "symbols/unwind.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

#include "symbols/unwind_capture.h"

namespace mlbcc::symbols {
namespace {

TEST(Unwinder, SaysWhereTheCopyOfTheStackEnded) {
    Capture whole = capture_in_chain(kWholeStack);
    MapsFinder finder = own_finder();
    std::vector<uint64_t> all = unwound(whole, finder);
    ASSERT_EQ(all, whole.peer);
    size_t longest = 0;
    for (size_t bytes = 0; bytes < std::min<size_t>(whole.stack.size(), 8192); bytes += 8) {
        Capture part = whole;
        part.stack.resize(bytes);
        std::vector<uint64_t> some = unwound(part, finder);
        if (some == all) break;
        ASSERT_GE(some.size(), 2u);
        ASSERT_EQ(some.back(), kBeyondCopy) << bytes;
        some.pop_back();
        ASSERT_LE(some.size(), all.size());
        ASSERT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << bytes;
        ASSERT_GE(some.size(), longest) << bytes;
        longest = some.size();
    }
    EXPECT_GE(longest, 4u);
}

TEST(Unwinder, EndsAtTheKernelsReturnTrampoline) {
    Capture capture = capture_in_chain(kWholeStack);
    constexpr uint64_t kTrampoline = 0x7fffffffe000;  // where the kernel puts it
    std::string maps =
        maps_text(::getpid()) + "7fffffffe000-7ffffffff000 --xp 00000000 00:00 0 [uprobes]\n";
    MapsFinder finder(maps, static_cast<uint32_t>(::getpid()));
    uint64_t replaced = capture.peer[3];
    std::vector<std::byte> word(sizeof replaced), other(sizeof replaced);
    std::memcpy(word.data(), &replaced, sizeof replaced);
    std::memcpy(other.data(), &kTrampoline, sizeof kTrampoline);
    auto at = std::search(capture.stack.begin(), capture.stack.end(), word.begin(), word.end());
    ASSERT_NE(at, capture.stack.end());
    std::copy(other.begin(), other.end(), at);
    std::vector<uint64_t> expected(capture.peer.begin(), capture.peer.begin() + 3);
    expected.push_back(kLost);
    EXPECT_EQ(unwound(capture, finder), expected);
}

// On arm64 the bits above the address space may be a signature.
uint64_t plain(uint64_t address) {
    return kHostArch == plan::Arch::arm64 ? address & ((uint64_t{1} << 48) - 1) : address;
}

// All but the end of a walk lies in code, whatever the stack and the registers say.
void expect_sound(const Capture& capture, MapsFinder& finder, int seed) {
    std::vector<uint64_t> addresses = unwound(capture, finder);
    ASSERT_FALSE(addresses.empty()) << seed;
    ASSERT_LE(addresses.size(), kMaxStackFrames + 1) << seed;
    ASSERT_EQ(addresses.front(), plain(capture.from.ip)) << seed;
    if (cut_at(addresses.back())) addresses.pop_back();
    for (size_t i = 1; i < addresses.size(); ++i) {
        bool code = finder.is_executable(addresses[i]) || finder.is_executable(addresses[i] - 1);
        ASSERT_TRUE(code) << "seed " << seed << ", frame " << i << " of " << addresses.size();
    }
}

TEST(Unwinder, SurvivesDamagedStacks) {
    const Capture whole = capture_in_chain(8192);
    MapsFinder finder = own_finder();
    for (int seed = 0; seed < 10000; ++seed) {
        std::mt19937_64 random(static_cast<uint64_t>(seed));
        Capture damaged = whole;
        for (uint64_t words = 1 + random() % 64; words > 0; --words) {
            uint64_t value = random() % 4 == 0 ? random() : whole.from.sp + random() % 8192;
            if (random() % 3 == 0) value = whole.peer[random() % whole.peer.size()];
            size_t at = random() % (damaged.stack.size() - sizeof value);
            std::memcpy(damaged.stack.data() + at, &value, sizeof value);
        }
        ASSERT_NO_FATAL_FAILURE(expect_sound(damaged, finder, seed));
    }
}

TEST(Unwinder, SurvivesRegistersThatMakeNoSense) {
    const Capture whole = capture_in_chain(8192);
    MapsFinder finder = own_finder();
    const uint64_t extremes[] = {0, 1, 7, 8, ~uint64_t{0}, ~uint64_t{7}, uint64_t{1} << 63};
    for (int seed = 0; seed < 10000; ++seed) {
        std::mt19937_64 random(static_cast<uint64_t>(seed));
        auto any = [&]() -> uint64_t {
            switch (random() % 4) {
            case 0: return random();
            case 1: return extremes[random() % std::size(extremes)];
            case 2: return whole.peer[random() % whole.peer.size()] + random() % 64;
            default: return whole.from.sp + random() % 16384 - 4096;
            }
        };
        Capture wild = whole;
        if (random() % 2 == 0) wild.from.ip = any();
        if (random() % 2 == 0) wild.from.sp = any();
        for (uint64_t& value : wild.from.saved) {
            if (random() % 2 == 0) value = any();
        }
        wild.stack.resize(random() % wild.stack.size());
        ASSERT_NO_FATAL_FAILURE(expect_sound(wild, finder, seed));
    }
}

TEST(Unwinder, StopsAtTheMostFrames) {
    Capture capture;
    std::function<void(int)> descend = [&](int depth) {
        if (depth == 0) {
            capture = capture_here(kWholeStack);
        } else {
            descend(depth - 1);
        }
        keep(capture);
    };
    descend(200);
    MapsFinder finder = own_finder();
    std::vector<uint64_t> addresses = unwound(capture, finder);
    ASSERT_EQ(addresses.size(), kMaxStackFrames + 1);
    EXPECT_EQ(addresses.back(), kTooDeep);
    addresses.pop_back();
    EXPECT_TRUE(std::equal(addresses.begin(), addresses.end(), capture.peer.begin()));
}

// ---- code without call frame information

// All of [0x10000, 0x20000) is code that was made at run time.
class MadeCode : public CodeFinder {
public:
    Code code_at(uint64_t address) override {
        return {address >= 0x10000 && address < 0x20000, nullptr, 0};
    }
};

Capture made_stack(uint64_t sp, uint64_t frame_pointer, std::initializer_list<uint64_t> words) {
    Capture capture;
    capture.from.ip = 0x10010;
    capture.from.sp = sp;
    capture.from.saved[0] = frame_pointer;
    capture.stack.resize(words.size() * 8);
    std::memcpy(capture.stack.data(), words.begin(), capture.stack.size());
    return capture;
}

std::vector<uint64_t> walk_made(const Capture& capture) {
    MadeCode finder;
    return unwound(capture, finder);
}

TEST(Unwinder, FollowsFramePointersWithoutCallFrameInformation) {
    //                                 0x7000  8   0x7010   18       0x7020  28
    Capture capture = made_stack(0x7000, 0x7010, {1, 2, 0x7020, 0x10020, 0, 0x10030});
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x10010, 0x10020, 0x10030, kLost}));
}

TEST(Unwinder, AReturnAddressOfZeroIsTheOutermostFrame) {
    Capture capture = made_stack(0x7000, 0x7000, {0x7010, 0x10020, 0, 0});
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x10010, 0x10020}));
}

TEST(Unwinder, AFramePointerThatLeadsBackEndsTheWalk) {
    Capture capture = made_stack(0x7000, 0x7010, {1, 2, 0x7010, 0x10020});
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x10010, 0x10020, kLost}));
}

TEST(Unwinder, AFramePointerBelowTheStackPointerEndsTheWalk) {
    Capture capture = made_stack(0x7000, 0x7010, {0x7000, 0x10020, 0x7000, 0x10030});
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x10010, 0x10030, kLost}));
}

TEST(Unwinder, AFramePointerIntoOtherDataEndsTheWalk) {
    Capture capture = made_stack(0x7000, 0x7000, {0x7010, 0x30000});
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x10010, kLost}));
}

TEST(Unwinder, AnAddressOutsideAllCodeEndsTheWalk) {
    Capture capture = made_stack(0x7000, 0x7000, {0x7010, 0x10020});
    capture.from.ip = 0x40000;
    EXPECT_EQ(walk_made(capture), (std::vector<uint64_t>{0x40000, kLost}));
}

}  // namespace
}  // namespace mlbcc::symbols
