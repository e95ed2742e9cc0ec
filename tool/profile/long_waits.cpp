#include "profile/long_waits.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sink/frames.h"

namespace mlbcc::profile {
namespace {

constexpr size_t kMostShown = 50;

constexpr size_t kShownWaits = 5;

// "4 times, 1.2 s, longest 400 ms: read+0x10 < app.py:step < app.py:main < ..."
void add_wait(sink::Rows& rows, const LongWait& wait) {
    std::string stack = sink::short_stack(wait.stack);
    rows.line(fmt::format("    {}{}, {}, longest {}: {}", sink::plural(wait.waits, "time"),
                          wait.threads.size() > 1
                              ? fmt::format(" in {}", sink::plural(wait.threads.size(), "thread"))
                              : "",
                          sink::short_duration(wait.total_ns), sink::short_duration(wait.max_ns),
                          stack.empty() ? "the stack could not be read" : stack));
}

}  // namespace

void LongWaits::add(const saved::EventFields& one) {
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

void add_members(JsonWriter& json, const LongWait& wait) {
    member(json, "waits", wait.waits);
    member(json, "total_time_ns", wait.total_ns);
    member(json, "max_time_ns", wait.max_ns);
    member(json, "longest_end_ns", wait.longest_ns);
    member(json, "pid", wait.pid);
    member(json, "tid", wait.tid);
    member(json, "threads", uint64_t{wait.threads.size()});
    member(json, "stack", wait.stack);
}

void add_rows(sink::Rows& rows, const LongWaitReport& report, const std::set<uint32_t>& idle) {
    size_t shown = 0;
    for (const LongWait& wait : report.waits) {
        if (shown == kShownWaits) return;
        if (std::ranges::includes(idle, wait.threads)) continue;
        if (shown++ == 0) rows.line("  long waits, by where:");
        add_wait(rows, wait);
    }
}

}  // namespace mlbcc::profile
