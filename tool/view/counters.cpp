#include "view/counters.h"

#include <algorithm>
#include <array>
#include <span>

#include "view/view.h"

namespace mlbcc::view {
namespace {

constexpr std::string_view kMemory[] = {"resident", "anonymous", "file_mapped", "shared", "swap"};
constexpr std::string_view kHeld[] = {"held"};

struct Looks {
    std::string_view type, name;  // of the event
    std::string_view counter;
    std::span<const std::string_view> lines;  // others of its arguments are no bytes
};
// Of rules/memory.rules, profile_memory.rules and profile_gpu.rules.
constexpr std::array kLooks{Looks{"memory", "process", "memory", kMemory},
                            Looks{"process", "memory", "memory", kMemory},
                            Looks{"process", "gpu_memory", "GPU memory", kHeld}};

}  // namespace

const DrawnEvent* Counters::of(const DrawnEvent& record) {
    if (is_counter(record)) return &record;
    auto looks = std::ranges::find_if(kLooks, [&](const Looks& one) {
        return record.type == one.type && record.name == one.name;
    });
    if (looks == kLooks.end()) return nullptr;
    sample_ = record;
    sample_.type = "counter";
    sample_.name = looks->counter;
    std::erase_if(sample_.arguments, [&](const DrawnEvent::Argument& argument) {
        return std::ranges::find(looks->lines, argument.name) == looks->lines.end();
    });
    return &sample_;
}

}  // namespace mlbcc::view
