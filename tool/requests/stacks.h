// Where threads waited: for what, and in which functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace mlbcc::requests {

struct WaitPlace {
    size_t part = 0;                 // Parts::index
    std::vector<std::string> stack;  // symbolised frames, innermost first

    friend bool operator<(const WaitPlace& a, const WaitPlace& b) {
        return std::tie(a.part, a.stack) < std::tie(b.part, b.stack);
    }
};
struct PlaceUse {
    uint64_t waits = 0, time_ns = 0;
};
using WaitPlaces = std::map<WaitPlace, PlaceUse>;

// Adds to `all` up to `most` places; returns how many waits were at others.
uint64_t add(WaitPlaces& all, const WaitPlaces& more, size_t most);

// The longest time first.
std::vector<const WaitPlaces::value_type*> longest(const WaitPlaces& places);

}  // namespace mlbcc::requests
