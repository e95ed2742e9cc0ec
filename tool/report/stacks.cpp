#include "report/stacks.h"

#include <algorithm>

namespace mlbcc::report {
namespace {

constexpr size_t kFrames = 4;

}  // namespace

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

std::string short_stack(const std::vector<std::string>& stack) {
    auto is_python = [](const std::string& frame) { return frame.find(".py:") != frame.npos; };
    const bool has_python = std::ranges::any_of(stack, is_python);
    std::string text;
    size_t shown = 0;
    for (size_t i = 0; i < stack.size(); ++i) {
        if (i > 0 && has_python && !is_python(stack[i])) continue;
        if (shown++ == kFrames) return text + " < ...";
        text += (text.empty() ? "" : " < ") + stack[i];
    }
    return text;
}

}  // namespace mlbcc::report
