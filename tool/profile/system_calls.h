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

#include "profile/section.h"
#include "sink/sink.h"

namespace mlbcc::profile {

struct CallCount {
    uint64_t calls = 0, time_ns = 0, errors = 0;
    void add(const CallCount& other);
};

struct CategoryUse : CallCount {
    std::string category;
};

struct CallUse : CategoryUse {
    std::string name;  // of the function
};

struct CallTotals : CallCount {
    std::vector<CategoryUse> categories;  // the longest time first; those that rules have
    std::vector<CallUse> all;             // likewise
};

// Adds to the report's categories and to its whole.
void add_category(CallTotals& report, CategoryUse use);
void sort_categories(CallTotals& report);

inline constexpr std::string_view kGpuCategory = "gpu";
enum class CallsOf { system, gpu };
CallTotals call_report(const sink::MetricSnapshot& metrics, CallsOf what);

void add_row(sink::Rows& rows, size_t indent, const std::string& name, const CallCount& count);
void add_functions(sink::Rows& rows, const CallTotals& calls);  // those with the longest time
void add_rows(sink::Rows& rows, const CallTotals& calls);
void add_members(JsonWriter& json, const CallCount& count);
void add_categories(JsonWriter& json, const CallTotals& calls);  // without single functions
void add_members(JsonWriter& json, const CallTotals& calls);

}  // namespace mlbcc::profile
