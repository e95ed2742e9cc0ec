#include "profile/progress.h"

#include <gtest/gtest.h>

#include "saved/made.h"

namespace mlbcc::profile {
namespace {

using namespace mlbcc::test;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr int64_t kMiB = 1 << 20;

saved::EventFields look(uint64_t time, uint32_t pid, int64_t resident, int64_t read,
                        int64_t written) {
    return event_fields("process", "memory", time, pid, pid,
                        {{"resident", resident}, {"read_chars", read}, {"written_chars", written}});
}
saved::EventFields file(std::string_view name, uint64_t time, std::string_view path,
                        int64_t inode) {
    return event_fields("file", name, time, 1, 1,
                        {{"path", path}, {"inode", inode}, {"device", int64_t{1}}});
}

TEST(Progress, memory_is_of_those_that_run_and_rates_of_all) {
    Progress progress;
    EXPECT_EQ(progress.text(0), "0 s  no weights yet  holds 0 B  reads 0 B/s  writes 0 B/s");
    progress.add(look(kSecond, 1, 64 * kMiB, 30 * kMiB, 0));
    progress.add(look(kSecond, 2, 32 * kMiB, 10 * kMiB, 2 * kMiB));
    EXPECT_EQ(progress.text(2 * kSecond),
              "2 s  no weights yet  holds 96.0 MiB  reads 20.0 MiB/s  writes 1.00 MiB/s");
    progress.add(look(2 * kSecond, 1, 64 * kMiB, 40 * kMiB, 0));
    progress.add(event_fields("process", "exit", 2 * kSecond, 2, 3));  // a thread
    progress.add(event_fields("process", "exit", 2 * kSecond, 2, 2));
    EXPECT_EQ(progress.text(2 * kSecond + kSecond / 2),  // too soon for new rates
              "2 s  no weights yet  holds 64.0 MiB  reads 20.0 MiB/s  writes 1.00 MiB/s");
    EXPECT_EQ(progress.text(3 * kSecond),
              "3 s  no weights yet  holds 64.0 MiB  reads 10.0 MiB/s  writes 0 B/s");
}

TEST(Progress, weights_that_are_read_are_loading) {
    Progress progress;
    auto phase = [&](uint64_t now_ns) {
        std::string text = progress.text(now_ns);
        size_t from = text.find("  ") + 2;
        return text.substr(from, text.find("  ", from) - from);
    };
    progress.add(file("open", kSecond, "/models/a.safetensors", 7));
    progress.add(file("read", kSecond, "", 8));
    EXPECT_EQ(phase(kSecond), "no weights yet");
    progress.add(file("map", 2 * kSecond, "", 7));
    EXPECT_EQ(phase(2 * kSecond), "loading");
    EXPECT_EQ(phase(3 * kSecond), "inference");
    progress.add(event_fields("phase", "mark", 3 * kSecond, 1, 1,
                              {{"text", "epoch\x1b[2J 1\nof old"}, {"bytes", int64_t{14}}}));
    EXPECT_EQ(phase(3 * kSecond), "epoch\\x1b[2J 1");
}

TEST(Progress, a_gpu_without_weights) {
    Progress progress;
    auto phase_with = [&](std::string_view type, uint64_t time) {
        progress.add(event_fields(type, "cuCall", time, 1, 1));
        return progress.facts(time).substr(0, progress.facts(time).find("  "));
    };
    EXPECT_EQ(phase_with("gpu_start", kSecond), "first run on the GPU");
    EXPECT_EQ(phase_with("gpu_load", 2 * kSecond), "first run on the GPU");
    EXPECT_EQ(phase_with("gpu_launch", 2 * kSecond + 1), "first run on the GPU");
    EXPECT_EQ(phase_with("gpu_wait", 4 * kSecond), "works on the GPU");
}

}  // namespace
}  // namespace mlbcc::profile
