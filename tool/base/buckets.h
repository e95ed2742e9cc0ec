// The buckets of a histogram: 0, and what lies between two powers of two; of signed values also
// between two negative ones. Values and bounds are 64 bits, two's complement where they are signed.
//
//   unsigned   0: 0      i: 2^(i-1) <= v < 2^i, i up to 64
//   signed     likewise, i up to 63, and   64: -1      64 + i: -2^i <= v < -2^(i-1), i up to 63
//
// probe_templates/runtime.bpf.c has the same in C.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace mlbcc::buckets {

inline constexpr size_t kUnsigned = 65, kSigned = 128, kFirstNegative = 64;
using Counts = std::array<uint64_t, kSigned>;  // how many values each has

constexpr size_t bucket_of(uint64_t bits, bool is_signed) {
    if (!is_signed || static_cast<int64_t>(bits) >= 0) {
        return static_cast<size_t>(std::bit_width(bits));
    }
    return kFirstNegative + static_cast<size_t>(std::bit_width(~bits));
}

struct Bounds {
    uint64_t low = 0, high = 0;  // low <= v < high; the largest number there is, is in the last
};
constexpr Bounds bounds_of(size_t bucket, bool is_signed) {
    const auto power = [](size_t exponent) { return uint64_t{1} << exponent; };
    if (is_signed && bucket >= kFirstNegative) {
        const size_t i = bucket - kFirstNegative;
        return {0 - power(i), i == 0 ? 0 : 0 - power(i - 1)};
    }
    const uint64_t low = bucket == 0 ? 0 : power(bucket - 1);
    if (is_signed && bucket == 63) {
        return {low, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())};
    }
    return {low, bucket == 64 ? UINT64_MAX : power(bucket)};
}

// Calls `visit` with each bucket, that of the smallest values first.
template <class Visit> void for_each_bucket(bool is_signed, Visit visit) {
    for (size_t i = is_signed ? kSigned : 0; i-- > kFirstNegative;) visit(i);
    for (size_t i = 0; i < (is_signed ? kFirstNegative : kUnsigned); ++i) visit(i);
}

// Unsigned numbers in the order of the values; twice it is the value again.
constexpr uint64_t ordered(uint64_t bits, bool is_signed) {
    return is_signed ? bits ^ (uint64_t{1} << 63) : bits;
}

}  // namespace mlbcc::buckets
