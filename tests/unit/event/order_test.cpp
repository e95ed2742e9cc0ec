#include "event/order.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace mlbcc::event {
namespace {

struct Source {
    std::vector<std::byte> bytes;
    explicit Source(uint64_t value, size_t size = 8) : bytes(size) {
        std::memcpy(bytes.data(), &value, std::min<size_t>(size, 8));
    }
};

uint64_t value_of(const Merger::Item& item) {
    uint64_t value = 0;
    std::memcpy(&value, item.record.data(), std::min<size_t>(item.record.size(), 8));
    return value;
}

void add(Merger& merger, uint32_t cpu, uint64_t value, std::vector<Merger::Key> keys) {
    merger.add(cpu, Source(value).bytes, keys, {.hits = static_cast<uint32_t>(value * 10)});
}

std::vector<uint64_t> drained(Merger& merger, uint64_t until) {
    std::vector<uint64_t> out;
    merger.drain(until, [&](const Merger::Item& item) { out.push_back(value_of(item)); });
    return out;
}

using Values = std::vector<uint64_t>;

TEST(Merger, MergesRingsByTime) {
    Merger merger;
    add(merger, 0, 1, {{Part::at_time, 10}});
    add(merger, 0, 2, {{Part::at_time, 30}});
    add(merger, 1, 3, {{Part::at_time, 20}});
    add(merger, 1, 4, {{Part::at_time, 40}});
    EXPECT_EQ(drained(merger, 40), (Values{1, 3, 2}));
    EXPECT_EQ(drained(merger, 41), (Values{4}));
    EXPECT_EQ(drained(merger, UINT64_MAX), Values{});
}

TEST(Merger, PutsAWholeCallAtItsBeginning) {
    Merger merger;
    add(merger, 0, 1, {{Part::at_time, 20}});
    add(merger, 0, 2, {{Part::at_time, 40}, {Part::at_start, 10}});
    std::vector<std::string> seen;
    merger.drain_all([&](const Merger::Item& item) {
        seen.push_back(std::to_string(value_of(item)) + "@" + std::to_string(item.time_ns) +
                       (item.first ? " first" : "") + (item.last ? " last" : ""));
        EXPECT_EQ(item.notes->hits, value_of(item) * 10);
    });
    EXPECT_EQ(seen, (std::vector<std::string>{"2@10 first", "1@20 first last", "2@40 last"}));
}

TEST(Merger, OrdersEqualTimes) {
    Merger merger;
    add(merger, 0, 1, {{Part::at_start, 10}});
    add(merger, 0, 2, {{Part::at_time, 10}});
    add(merger, 0, 3, {{Part::at_time, 10}});
    add(merger, 0, 4, {{Part::process, 10}});
    EXPECT_EQ(drained(merger, 11), (Values{4, 2, 3, 1}));
}

TEST(Merger, CountsWhatComesLate) {
    Merger merger;
    add(merger, 0, 1, {{Part::at_time, 100}});
    EXPECT_EQ(drained(merger, 200), (Values{1}));
    add(merger, 0, 2, {{Part::at_time, 150}});
    add(merger, 1, 3, {{Part::at_start, 50}});
    EXPECT_EQ(drained(merger, 200), (Values{3, 2}));
    EXPECT_EQ(merger.late(), 1u);
}

TEST(Merger, KeepsRecordsOfAnySize) {
    Merger merger;
    for (size_t size : {size_t{1}, size_t{40}, size_t{4321}, RecordArena::kMaxRecord}) {
        Source source(size, size);
        Merger::Key key{Part::at_time, size};
        merger.add(3, source.bytes, std::span(&key, 1));
    }
    std::vector<size_t> sizes;
    merger.drain_all([&](const Merger::Item& item) {
        sizes.push_back(item.record.size());
        EXPECT_EQ(item.cpu, 3u);
    });
    EXPECT_EQ(sizes, (std::vector<size_t>{1, 40, 4321, RecordArena::kMaxRecord}));
}

TEST(Merger, UsesItsMemoryAgain) {
    Merger merger;
    uint64_t time = 0;
    size_t chunks = 0;
    for (int round = 0; round < 200; ++round) {
        for (int i = 0; i < 1000; ++i, ++time) add(merger, 0, time, {{Part::at_time, time}});
        EXPECT_EQ(drained(merger, time - 500).size(), round == 0 ? 500u : 1000u);
        if (round == 10) chunks = merger.arena().chunks();
    }
    EXPECT_EQ(merger.arena().chunks(), chunks);
    EXPECT_LE(chunks, 3u);
}

// One ring: what its CPU wrote, nearly in the order of time.
struct Written {
    uint64_t at, value;
    std::vector<Merger::Key> keys;
};

std::vector<Written> random_ring(std::mt19937_64& random, uint64_t& value, int records) {
    std::vector<Written> ring;
    uint64_t now = 1000;
    for (int i = 0; i < records; ++i) {
        now += random() % 20;
        uint64_t jitter = random() % 10 == 0 ? random() % 100 : 0;
        Written one{now, value++, {{Part::at_time, now - jitter}}};
        if (random() % 3 == 0) one.keys.push_back({Part::at_start, now - random() % 900});
        if (random() % 20 == 0) one.keys = {{Part::process, now}};
        ring.push_back(std::move(one));
    }
    return ring;
}

// Rings that are swept one after the other at random moments, drained a window later: all items
// come once, in order, none late.
TEST(Merger, SortsRandomStreams) {
    constexpr uint64_t kWindow = 1000;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        std::mt19937_64 random(seed);
        uint64_t value = 0;
        std::vector<std::vector<Written>> rings;
        for (size_t cpus = 1 + seed % 7; rings.size() < cpus;)
            rings.push_back(random_ring(random, value, 400));
        std::vector<size_t> read(rings.size());
        Merger merger;
        std::vector<std::pair<uint64_t, uint64_t>> got;
        auto take = [&](const Merger::Item& item) {
            got.emplace_back(item.time_ns, value_of(item));
        };
        size_t items = 0;
        for (uint64_t now = 1000; now < 12000; now += random() % 300) {
            for (size_t cpu = 0; cpu < rings.size(); ++cpu) {
                for (; read[cpu] < rings[cpu].size() && rings[cpu][read[cpu]].at <= now;
                     ++read[cpu]) {
                    const Written& one = rings[cpu][read[cpu]];
                    merger.add(static_cast<uint32_t>(cpu),
                               Source(one.value, 8 + random() % 60).bytes, one.keys);
                    items += one.keys.size();
                }
            }
            merger.drain(now - std::min(now, kWindow), take);
        }
        merger.drain_all(take);
        EXPECT_EQ(got.size(), items) << seed;
        EXPECT_TRUE(std::ranges::is_sorted(got, {}, &std::pair<uint64_t, uint64_t>::first)) << seed;
        EXPECT_EQ(merger.late(), 0u) << seed;
        std::set<uint64_t> values;
        for (const auto& [time, one] : got) values.insert(one);
        EXPECT_EQ(values.size(), value) << seed;
    }
}

// Without a window nothing is lost either, and what was drained out of order is counted.
TEST(Merger, LosesNothingThatIsLate) {
    std::mt19937_64 random(7);
    Merger merger;
    uint64_t last = 0, late = 0, count = 0;
    auto take = [&](const Merger::Item& item) {
        if (item.time_ns < last) ++late;
        EXPECT_EQ(item.late, item.time_ns < last);
        last = std::max(last, item.time_ns);
        ++count;
    };
    for (uint64_t i = 0; i < 5000; ++i) {
        add(merger, i % 4, i,
            {{Part::at_time, i * 10}, {Part::at_start, i * 10 - random() % (i * 10 + 1)}});
        if (i % 50 == 0) merger.drain(i * 10, take);
    }
    merger.drain_all(take);
    EXPECT_EQ(count, 10000u);
    EXPECT_EQ(merger.late(), late);
    EXPECT_GT(late, 0u);
}

}  // namespace
}  // namespace mlbcc::event
