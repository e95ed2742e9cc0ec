// What system calls and waits took, shared out over stretches of time: from looks at the sums of
// rules/profile_calls.rules and rules/profile_waits.rules while the trace ran (`every`).
//
//   look at 0.2 s, since 0.1 s: 10 calls      phases to 0.13 s, to 0.5 s  ->  3 calls, 7 calls
//
// What a look gained is shared by the length of time that it has in each. What is longer than the
// look began before it: such a call or wait is spread over the time that it took, to the look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "phases/repetitions.h"
#include "profile/off_cpu.h"
#include "profile/system_calls.h"
#include "profile/time_shares.h"
#include "sink/sink.h"

namespace mlbcc::profile {

struct TimedSums {
    CallTotals calls;                            // by category only, and without the GPU's
    CategoryUse gpu;                             // calls of its driver
    std::map<std::string, uint64_t> off_cpu_ns;  // by reason, of all threads
    TimeShares time;                             // of threads that ended, but for idle ones
};

class SumHistory {
public:
    explicit SumHistory(size_t most = 200'000) : most_(most) {}

    // Its times are since the trace began.
    void add(const sink::Sums& gained);
    bool empty() const { return pieces_.empty(); }
    // All that was gained so far, of what rules want looked at.
    sink::MetricSnapshot whole() const;
    // For each of `stretches`, which follow one another, and at the end for all other time. They
    // add up to the whole, exactly.
    std::vector<TimedSums> shared(const std::vector<phases::TimeRange>& stretches,
                                  const std::vector<ProcessLife>& lives) const;

private:
    // What is counted: a category of calls; or of a thread a reason, "" for all its waits.
    struct Key {
        bool is_wait = false;
        std::string name;
        ThreadId thread;
        bool operator<(const Key& other) const {
            return std::tie(is_wait, name, thread) <
                   std::tie(other.is_wait, other.name, other.thread);
        }
    };
    struct Numbers {
        uint64_t calls = 0, ns = 0, errors = 0;
        void add(const Numbers& other);
    };
    using Shared = std::map<Key, std::vector<Numbers>>;  // by stretch, the last for other time
    struct Piece {
        const Key* key = nullptr;
        phases::TimeRange time;
        Numbers numbers;
    };
    using Pieces = std::map<std::tuple<uint64_t, uint64_t, Key>, Numbers>;  // begin, end

    static void add_calls(const sink::Sums& gained, Pieces& pieces);
    static void add_waits(const sink::Sums& gained, Pieces& pieces);
    void add_to_whole(const sink::Sums& gained);
    void make_room();
    Shared shared_by_key(const std::vector<phases::TimeRange>& stretches,
                         const phases::TimeRange& alive) const;

    size_t most_;
    std::set<Key> keys_;
    std::vector<Piece> pieces_;
    std::map<std::tuple<std::string, std::string, sink::Group>, sink::Stat> stats_;
    std::map<std::tuple<std::string, std::string, sink::Group>, sink::Hist> hists_;
};

}  // namespace mlbcc::profile
