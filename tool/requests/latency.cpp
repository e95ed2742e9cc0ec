#include "requests/latency.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mlbcc::requests {
namespace {

constexpr unsigned kBits = 7;  // 128 buckets for each power of two
constexpr uint64_t kEach = 1u << kBits;
constexpr uint64_t kLongest = uint64_t{1} << 45;  // 9.8 hours: what is longer is in the last

// Below 2 * kEach each time has a bucket.
size_t bucket_of(uint64_t ns) {
    ns = std::min(ns, kLongest);
    if (ns < kEach) return ns;
    auto shift = static_cast<unsigned>(std::bit_width(ns)) - kBits - 1;
    return shift * kEach + (ns >> shift);
}

uint64_t middle_of(size_t bucket) {
    if (bucket < 2 * kEach) return bucket;
    uint64_t shift = bucket / kEach - 1;
    uint64_t low = (bucket - shift * kEach) << shift;
    return low + (uint64_t{1} << shift) / 2;
}

}  // namespace

void Latency::add(uint64_t ns) {
    size_t bucket = bucket_of(ns);
    if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
    ++buckets_[bucket];
    ++count_;
    max_ = std::max(max_, ns);
}

uint64_t Latency::at_most(uint64_t ns) const {
    uint64_t seen = 0;
    const size_t end = std::min(buckets_.size(), bucket_of(ns) + 1);
    for (size_t i = 0; i < end; ++i) seen += buckets_[i];
    return seen;
}

uint64_t Latency::quantile(double q) const {
    auto wanted = static_cast<uint64_t>(std::ceil(q * static_cast<double>(count_)));
    uint64_t seen = 0;
    for (size_t i = 0; i < buckets_.size(); ++i) {
        seen += buckets_[i];
        if (seen >= wanted && seen > 0) return std::min(middle_of(i), max_);
    }
    return max_;
}

}  // namespace mlbcc::requests
