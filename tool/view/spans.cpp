#include "view/spans.h"

#include <algorithm>

namespace mlbcc::view {

Spans::Lane& Spans::lane_of(const DrawnEvent& record) {
    uint64_t key = uint64_t{record.pid} << 32 | record.tid;
    auto found = lanes_.find(key);
    if (found != lanes_.end()) return found->second;
    if (lanes_.size() >= most_lanes_) {
        std::erase_if(lanes_, [](const auto& one) { return one.second.depth == 0; });
        most_lanes_ = std::max(kLanes, 2 * lanes_.size());
    }
    return lanes_[key];
}

// Innermost first: they are over.
void Spans::close_above(Lane& lane, size_t depth, uint64_t end_ns) {
    while (lane.depth > depth) {
        const DrawnEvent& call = lane.open[--lane.depth].get();
        take_({&call, nullptr, call.time_ns, std::max(end_ns, call.time_ns), Missing::end,
               lane.around[lane.depth]});
    }
}

// It is in the call that it names; those further in are over, and without a name all are.
void Spans::begin(const DrawnEvent& record) {
    Lane& lane = lane_of(record);
    size_t around = 0;
    if (record.parent) {
        around = lane.depth;
        while (around > 0 && lane.open[around - 1].get().id != *record.parent) --around;
        if (around == 0) around = lane.depth;  // that one is not known
    }
    if (around >= kMaxDepth) around = 0;
    close_above(lane, around, record.time_ns);
    if (lane.depth == lane.open.size()) {
        lane.open.emplace_back();
        lane.around.emplace_back();
    }
    lane.around[lane.depth] = around_of(lane, record.type);
    lane.open[lane.depth++].keep(record);
}

size_t Spans::around_of(const Lane& lane, std::string_view type) {
    for (size_t i = lane.depth; i > 0; --i) {
        if (lane.open[i - 1].get().type == type) return lane.around[i - 1] + 1;
    }
    return 0;
}

Missing Spans::missing_of(const DrawnEvent& end) {
    if (end.goes_on) return Missing::still_open;
    return end.has_duration ? Missing::nothing : Missing::begin;
}

void Spans::end(const DrawnEvent& record) {
    Lane& lane = lane_of(record);
    size_t at = lane.depth;
    while (record.begin && at > 0 && lane.open[at - 1].get().id != *record.begin) --at;
    if (!record.begin || at == 0) {
        uint64_t began = record.time_ns - std::min(record.time_ns, record.duration_ns);
        return take_({&record, nullptr, began, record.time_ns, Missing::begin, 0});
    }
    close_above(lane, at, record.time_ns);
    const DrawnEvent& call = lane.open[at - 1].get();
    lane.depth = at - 1;
    take_({&call, &record, call.time_ns, std::max(record.time_ns, call.time_ns), missing_of(record),
           lane.around[at - 1]});
    lane.remember(call, record.duration_ns);
}

void Spans::Lane::remember(const DrawnEvent& record, uint64_t duration_ns) {
    type = record.type;
    name = record.name;
    function = record.traced();
    is_moment = record.phase == event::Phase::instant;
    last = {};
    last.time_ns = record.time_ns;
    last.duration_ns = duration_ns;
    last.type = type;
    last.name = name;
    last.function = function;
}

const DrawnEvent* Spans::same_call(const DrawnEvent& record) {
    if (record.phase == event::Phase::end || record.tid == 0) return nullptr;
    Lane& lane = lane_of(record);
    auto is_same = [&](const DrawnEvent& other) {
        return other.time_ns == record.time_ns && other.traced() == record.traced();
    };
    const DrawnEvent* found = nullptr;
    for (size_t at = lane.depth; record.parent && at > 0 && found == nullptr; --at) {
        const DrawnEvent& span = lane.open[at - 1].get();
        if (span.id == *record.parent) found = &span;
    }
    if (found != nullptr && !is_same(*found)) found = nullptr;
    if (record.phase == event::Phase::begin) return found;
    const bool is_moment = record.phase == event::Phase::instant;
    const bool is_as_long = lane.last.duration_ns == record.duration_ns;
    if (found == nullptr && lane.is_moment == is_moment && is_as_long && is_same(lane.last))
        return &lane.last;
    lane.remember(record, record.duration_ns);
    return found;
}

void Spans::add(const DrawnEvent& record) {
    switch (record.phase) {
    case event::Phase::begin: return begin(record);
    case event::Phase::end: return end(record);
    case event::Phase::complete:
        return take_({&record, nullptr, record.time_ns, record.time_ns + record.duration_ns,
                      missing_of(record), 0});
    case event::Phase::instant: return;
    }
}

// In the order of threads, so that the same trace gives the same file.
void Spans::finish(uint64_t end_ns) {
    std::vector<uint64_t> keys;
    for (const auto& [key, lane] : lanes_) {
        if (lane.depth > 0) keys.push_back(key);
    }
    std::ranges::sort(keys);
    for (uint64_t key : keys) {
        const Lane& lane = lanes_[key];
        for (size_t i = 0; i < lane.depth; ++i) {
            const DrawnEvent& call = lane.open[i].get();
            take_({&call, nullptr, call.time_ns, std::max(end_ns, call.time_ns),
                   Missing::still_open, lane.around[i]});
        }
    }
    lanes_.clear();
}

}  // namespace mlbcc::view
