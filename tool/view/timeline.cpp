#include <algorithm>
#include <memory>

#include "text/glob.h"
#include "view/timeline_data.h"
#include "view/values.h"

namespace mlbcc::view {
namespace {

constexpr size_t kMostLevels = 12;  // of a lane; calls further in are drawn on the last
constexpr size_t kMostRows = 2000;  // of all lanes: some 80 MB

constexpr uint64_t kMostNaps = 2;  // of a thread that sleeps all the time
constexpr double kAsleep = 0.95;   // of its time

// Types that say nothing of work: waits, and what becomes of threads themselves.
bool is_wait(std::string_view type) {
    return type == "off_cpu";
}
bool is_of_life(std::string_view type) {
    return type == "process";
}

// Calls that hand work to a device.
bool is_launch(std::string_view name) {
    return glob_match("*Launch*", name);
}

class Drawing : public Timeline {
public:
    explicit Drawing(const CallSelection& wanted) : data_(wanted) {}

    void slice(const Slice& slice) override {
        const DrawnEvent& call = *slice.call;
        if (!is_chosen(data_.wanted, call)) return;
        const uint64_t begin_ns = std::max(slice.begin_ns, data_.wanted.from_ns);
        const uint64_t end_ns = std::min(slice.end_ns, data_.wanted.to_ns);
        const bool lies_in = slice.begin_ns < data_.wanted.to_ns && slice.end_ns >= begin_ns;
        if (!lies_in || !reach(begin_ns, end_ns)) return;
        const CallTable::Id name = data_.table.id_of(call.type, call.name);
        data_.table.count(name);
        data_.table.time(name, end_ns - begin_ns);
        const bool again = chosen_calls_.has(call);
        if (!again) ++data_.calls;
        TimeRow* row = has_mark(call) ? row_of(slice) : nullptr;
        if (row == nullptr) return;
        row->add_call(data_.columns, begin_ns, end_ns, ++last_call_, name);
        if (is_launch(call.name) && !again) ++row->at(data_.columns, begin_ns).launches;
    }
    void instant(const DrawnEvent& record) override {
        if (is_counter(record) || !is_chosen(data_.wanted, record)) return;
        if (!reach(record.time_ns, record.time_ns)) return;
        data_.table.count(data_.table.id_of(record.type, record.name));
        if (!chosen_calls_.has(record)) ++data_.moments;
        if (!has_mark(record)) return;
        if (TimeRow* row = row_of(moment_of(record)))
            ++row->at(data_.columns, record.time_ns).moments;
    }
    void lost(const saved::LostEvents& lost) override {
        if (reach(lost.time_ns, lost.time_ns))
            ++data_.losses.at(data_.columns, lost.time_ns).moments;
    }
    bool failed() const override { return false; }
    Result<void> finish(const Ending& ending) override {
        data_.ending = ending;
        if (data_.to_ns() > data_.from_ns()) data_.columns.reach(data_.to_ns() - 1);
        return {};
    }

    bool is_empty() const override { return data_.calls + data_.moments == 0; }
    std::string text(const TimelineLook& look) override { return timeline_text(data_, look); }

private:
    // The last moment of the window belongs to it.
    bool reach(uint64_t begin_ns, uint64_t end_ns) {
        const uint64_t last_ns = std::min(end_ns, data_.wanted.to_ns - 1);
        if (!data_.columns.reach(begin_ns) || !data_.columns.reach(std::max(begin_ns, last_ns)))
            return false;
        data_.first_ns = std::min(data_.first_ns, begin_ns);
        data_.seen_ns = std::max(data_.seen_ns, end_ns);
        return true;
    }
    TimeRow* row_of(const Slice& slice);

    TimelineData data_;
    ChosenCalls chosen_calls_{data_.wanted};
    uint64_t last_call_ = 0;
    size_t rows_ = 0;
};

// A call that has one record comes when it begins, so what it is in is known by their ends.
size_t level_of(const Slice& slice, TimelineLane& lane) {
    if (slice.call->phase != event::Phase::complete) return slice.depth;
    while (!lane.open_to.empty() && lane.open_to.back() < slice.end_ns) lane.open_to.pop_back();
    lane.open_to.push_back(slice.end_ns);
    return lane.open_to.size() - 1;
}

void take_note(TimelineThread& thread, const Slice& slice) {
    const DrawnEvent& call = *slice.call;
    ++thread.calls;
    thread.began_ns = std::min(thread.began_ns, slice.begin_ns);
    thread.ended_ns = std::max(thread.ended_ns, slice.end_ns);
    if (is_launch(call.name)) ++thread.launches;
    if (is_wait(call.type)) {
        ++thread.waits;
        thread.waited_ns += slice.end_ns - slice.begin_ns;
    } else if (!is_of_life(call.type)) {
        ++thread.works;
    }
}

TimeRow* Drawing::row_of(const Slice& slice) {
    const DrawnEvent& call = *slice.call;
    TimelineThread& thread = data_.threads[{call.pid, call.tid}];
    take_note(thread, slice);
    thread.comm = call.comm;
    auto lane = thread.lanes.find(call.type);
    if (lane == thread.lanes.end()) lane = thread.lanes.emplace(call.type, TimelineLane{}).first;
    const size_t level = std::min(level_of(slice, lane->second), kMostLevels - 1);
    std::vector<TimeRow>& rows = lane->second.rows;
    if (rows.size() <= level && rows_ + level + 1 - rows.size() > kMostRows) {
        ++data_.not_held;
        return nullptr;
    }
    while (rows.size() <= level) {
        rows.emplace_back();
        ++rows_;
    }
    return &rows[level];
}

}  // namespace

bool TimelineThread::slept() const {
    if (launches > 0 || waits == 0 || waits > kMostNaps) return false;
    return static_cast<double>(waited_ns) >= kAsleep * static_cast<double>(ended_ns - began_ns);
}

std::unique_ptr<Timeline> draw_timeline(const CallSelection& wanted) {
    return std::make_unique<Drawing>(wanted);
}

}  // namespace mlbcc::view
