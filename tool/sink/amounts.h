// Sizes and times to three digits, as the texts of reports have them.
#pragma once

#include <cstdint>
#include <string>

#include "sink/summary_text.h"

namespace mlbcc::sink {

inline std::string bytes(uint64_t value) {
    return short_amount(value, rules::Unit::bytes);
}
inline std::string duration(uint64_t ns) {
    return short_duration(ns);
}

}  // namespace mlbcc::sink
