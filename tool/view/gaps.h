// When none of some calls was running: the longest such times of a trace.
//
//   calls 0..10, 5..20, 30..40 ms, until 50 ms  ->  20..30, 40..50
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlbcc::view {

struct Gap {
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t length_ns() const { return end_ns - begin_ns; }
};

class Gaps {
public:
    explicit Gaps(uint64_t from_ns) : reach_ns_(from_ns) {}

    // Best in the order of their ends. An instant is a call of no time.
    void add(uint64_t begin_ns, uint64_t end_ns);
    // Up to the end of what is looked at; the longest first.
    std::vector<Gap> longest(size_t most, uint64_t to_ns) const;

private:
    // The shortest are forgotten: a long call that ends late can only make gaps shorter.
    static constexpr size_t kKept = 4096;
    void cut(uint64_t begin_ns, uint64_t end_ns);
    void forget();

    std::vector<Gap> kept_;  // in order of time
    uint64_t reach_ns_;      // until when calls were seen
};

}  // namespace mlbcc::view
