#include "requests/stacks.h"

#include <algorithm>

namespace mlbcc::requests {

uint64_t add(WaitPlaces& all, const WaitPlaces& more, size_t most) {
    uint64_t left_out = 0;
    for (const auto& [place, use] : more) {
        if (all.size() >= most && !all.contains(place)) {
            left_out += use.waits;
            continue;
        }
        PlaceUse& sum = all[place];
        sum.waits += use.waits;
        sum.time_ns += use.time_ns;
    }
    return left_out;
}

std::vector<const WaitPlaces::value_type*> longest(const WaitPlaces& places) {
    std::vector<const WaitPlaces::value_type*> all;
    for (const auto& one : places) all.push_back(&one);
    std::ranges::stable_sort(all, std::ranges::greater{},
                             [](const auto* one) { return one->second.time_ns; });
    return all;
}

}  // namespace mlbcc::requests
