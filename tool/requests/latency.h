// How often which time was taken: buckets whose width is less than 1 % of the times in them, so
// that a quantile is right to 0.4 %; nanoseconds to hours in at most 60 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlbcc::requests {

class Latency {
public:
    void add(uint64_t ns);
    uint64_t count() const { return count_; }
    uint64_t max() const { return max_; }
    // How many took at most `ns`, to the width of a bucket.
    uint64_t at_most(uint64_t ns) const;
    // The time that a share `q` of all took at most; 0 if there are none.
    uint64_t quantile(double q) const;

private:
    std::vector<uint64_t> buckets_;  // as far as they are needed
    uint64_t count_ = 0, max_ = 0;
};

}  // namespace mlbcc::requests
