#include "profile/long_waits.h"

#include <algorithm>
#include <utility>

namespace mlbcc::profile {
namespace {

constexpr size_t kMostShown = 50;

}  // namespace

void LongWaits::add(const saved::Happening& one) {
    if (one.type != "off_cpu" || one.name != "wait") return;
    std::vector<std::string> stack(one.stack.begin(), one.stack.end());
    auto found = by_stack_.find(stack);
    if (found == by_stack_.end()) {
        if (by_stack_.size() >= most_) {
            ++left_out_;
            return;
        }
        found = by_stack_.try_emplace(std::move(stack)).first;
    }
    LongWait& wait = found->second;
    const uint64_t waited_ns = one.duration_ns;
    ++wait.waits;
    wait.threads.insert(one.tid);
    wait.total_ns += waited_ns;
    if (waited_ns < wait.max_ns) return;
    wait.max_ns = waited_ns;
    wait.longest_ns = one.time_ns + one.duration_ns;
    wait.pid = one.pid;
    wait.tid = one.tid;
}

LongWaitReport LongWaits::report() const {
    LongWaitReport made;
    for (const auto& [stack, wait] : by_stack_) {
        made.waits.push_back(wait);
        made.waits.back().stack = stack;
    }
    std::ranges::stable_sort(made.waits, std::ranges::greater{}, &LongWait::total_ns);
    made.left_out = left_out_;
    for (size_t i = kMostShown; i < made.waits.size(); ++i) made.left_out += made.waits[i].waits;
    made.waits.resize(std::min(kMostShown, made.waits.size()));
    return made;
}

}  // namespace mlbcc::profile
