// System calls by what they are for, from the sums of rules/profile_calls.rules, whose lists are
// the categories:
//
//   sum duration by function as "file_io calls"    count by function as "file_io errors"
//
// Calls of the GPU's driver are told in the same way, in a category of their own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sink/sink.h"

namespace mlbcc::profile {

struct CallUse {
    std::string name, category;
    uint64_t calls = 0, time_ns = 0, errors = 0;
};

struct CategoryUse {
    std::string category;
    uint64_t calls = 0, time_ns = 0, errors = 0;
};

struct CallReport {
    uint64_t calls = 0, time_ns = 0, errors = 0;
    std::vector<CategoryUse> categories;  // the longest time first; those that rules have
    std::vector<CallUse> all;             // likewise
};

// Adds to the report's categories and to its whole.
void add_category(CallReport& report, CategoryUse use);
void sort_categories(CallReport& report);

inline constexpr std::string_view kGpuCategory = "gpu";
enum class CallsOf { system, gpu };
CallReport call_report(const sink::MetricSnapshot& metrics, CallsOf what);

}  // namespace mlbcc::profile
