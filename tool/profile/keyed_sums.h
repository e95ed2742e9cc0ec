// What rules counted and summed by key in the kernel, found again by its label and keys.
//
//   sum ret by inode = ..., device = ... as "read from file"  ->  {inode, device}: {value, calls}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sink/sink.h"

namespace mlbcc::profile {

// Ends of labels: "file calls" and "file errors" are the calls of the category `file`.
constexpr std::string_view kCallsOf = " calls", kErrorsOf = " errors";

struct KeyedSum {
    uint64_t value = 0, calls = 0;
};

// The keys' values are numbers, in the order of `keys`; groups that lack one are left out.
using SumsByKey = std::map<std::vector<uint64_t>, KeyedSum>;
SumsByKey sums_of(const sink::MetricSnapshot& metrics, std::string_view label,
                  const std::vector<std::string_view>& keys);

// The value of a key as text, without quotes; "" where there is none.
std::string key_text(const sink::Group& by, std::string_view name);

}  // namespace mlbcc::profile
