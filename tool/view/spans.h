// The two ends of a span to one call, thread by thread. A call whose end is missing (a longjmp, a
// loss) lasts until something shows that it is over: the end of a call around it, or the beginning
// of one that is not in it.
//
//   B a@1  B b@2  E a@9   ->  b 2..9 without an end, a 1..9
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "view/drawn_event.h"

namespace mlbcc::view {

// `begin`: its B is missing. `end`: its E is. `still_open`: it was not over when the trace ended.
enum class Missing : uint8_t { nothing, begin, end, still_open };

struct Slice {
    const DrawnEvent* call = nullptr;  // its B, or its X; without a B its E
    const DrawnEvent* end = nullptr;   // its E, where it has both
    uint64_t begin_ns = 0, end_ns = 0;
    Missing missing{};
    size_t depth = 0;  // calls of its type around it; 0 where that is not known
};

// An instant as a call that takes no time: what it has is read as a call's is.
inline Slice moment_of(const DrawnEvent& instant) {
    return {&instant, nullptr, instant.time_ns, instant.time_ns, Missing::nothing, 0};
}

class Spans {
public:
    using Take = std::function<void(const Slice&)>;
    static constexpr size_t kMaxDepth = 8192;  // of a thread: deeper, all of it is given up

    explicit Spans(Take take) : take_(std::move(take)) {}

    void add(const DrawnEvent& record);  // B, E or X
    // What was told before of the call that a record is of, as long as the next of its thread has
    // not come: null where that is nothing.
    const DrawnEvent* same_call(const DrawnEvent& record);
    // What is open still is given, the outer ones of a thread first.
    void finish(uint64_t end_ns);

private:
    struct Lane {
        std::deque<KeptEvent> open;  // outermost first; behind `depth` for use again
        std::vector<size_t> around;  // of each: calls of its type that it is in
        size_t depth = 0;
        // The last moment, or call that is over, without what it holds.
        DrawnEvent last;
        bool is_moment = false;
        std::string type, name, function;
        void remember(const DrawnEvent& record, uint64_t duration_ns);
    };
    static constexpr size_t kLanes = 4096;  // of more, those of idle threads are forgotten

    void begin(const DrawnEvent& record);
    static Missing missing_of(const DrawnEvent& end);
    static size_t around_of(const Lane& lane, std::string_view type);
    void end(const DrawnEvent& record);
    Lane& lane_of(const DrawnEvent& record);
    void close_above(Lane& lane, size_t depth, uint64_t end_ns);

    Take take_;
    std::unordered_map<uint64_t, Lane> lanes_;  // by process and thread
    size_t most_lanes_ = kLanes;                // that there are before idle ones are looked for
};

}  // namespace mlbcc::view
