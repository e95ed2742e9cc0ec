#include "view/marks.h"

#include <algorithm>

#include "sink/json.h"
#include "view/values.h"

namespace mlbcc::view {
namespace {

constexpr size_t kMostLosses = 4096;

uint64_t thread_of(const DrawnEvent& record) {
    return uint64_t{record.pid} << 32 | record.tid;
}

}  // namespace

std::optional<uint32_t> Marks::lane_of(const DrawnEvent& record) {
    std::string& comm = comms_[thread_of(record)];
    if (comm != record.comm) comm = record.comm;
    auto key = std::make_tuple(record.pid, record.tid, std::string(record.type));
    auto found = lane_ids_.find(key);
    if (found != lane_ids_.end()) return found->second;
    if (lanes_.size() == kLanes) return {};
    lanes_.push_back({record.pid, record.tid, std::string(record.type)});
    return lane_ids_[key] = static_cast<uint32_t>(lanes_.size() - 1);
}

// {"size":4096,"[returned]":"CUDA_SUCCESS"}
uint32_t Marks::detail_of(const Slice& slice) {
    text_.clear();
    auto member = [&](std::string_view name, const saved::FieldValue& value) {
        text_.append(text_.size() == 0 ? '{' : ',');
        sink::write_text(text_, name);
        text_.append(':');
        write_json(text_, value);
    };
    each_argument(slice, [&](const DrawnEvent::Argument& one) { member(one.name, one.value); });
    if (const std::optional<saved::FieldValue>& ret = return_of(slice)) member("[returned]", *ret);
    if (text_.size() == 0 || texts_.bytes() + text_.size() > kMostText) return 0;
    if (details_ > 0 && details_ % kPiece == 0) texts_.end_piece();
    text_.append("}\n");
    texts_.text(text_.view());
    return ++details_;
}

void Marks::add(const Slice& slice, uint32_t kind, uint32_t call) {
    std::optional<uint32_t> lane = lane_of(*slice.call);
    uint64_t length_ns = slice.end_ns - slice.begin_ns;
    if (!lane || length_ns < least_ns_) {
        ++left_out_;
        return;
    }
    if (marks_.size() >= kMost) thin();
    marks_.push_back({slice.begin_ns, length_ns, call << 3 | kind, detail_of(slice), *lane, 0});
}

void Marks::lost(uint64_t time_ns, uint64_t count) {
    if (losses_.size() < kMostLosses) losses_.push_back({time_ns, count});
}

void Marks::thin() {
    std::vector<uint64_t> lengths;
    lengths.reserve(marks_.size());
    for (const Mark& mark : marks_) lengths.push_back(mark.length_ns);
    auto middle = lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2);
    std::ranges::nth_element(lengths, middle);
    least_ns_ = *middle + 1;
    left_out_ += std::erase_if(marks_, [&](const Mark& m) { return m.length_ns < least_ns_; });
}

void Marks::find_rows() {
    std::ranges::sort(marks_, [](const Mark& a, const Mark& b) {
        return std::tuple(a.lane, a.begin_ns, ~a.length_ns) <
               std::tuple(b.lane, b.begin_ns, ~b.length_ns);
    });
    std::vector<uint64_t> ends;  // of the calls that the next may be in
    for (size_t i = 0; i < marks_.size(); ++i) {
        Mark& mark = marks_[i];
        if (i == 0 || marks_[i - 1].lane != mark.lane) ends.clear();
        while (!ends.empty() && ends.back() <= mark.begin_ns) ends.pop_back();
        mark.row = static_cast<uint32_t>(ends.size());
        ends.push_back(mark.begin_ns + mark.length_ns);
    }
    std::ranges::stable_sort(marks_, [](const Mark& a, const Mark& b) {
        return std::tuple(a.lane, a.row) < std::tuple(b.lane, b.row);
    });
    for (const Mark& mark : marks_) {
        bool is_new = rows_.empty() || std::get<0>(rows_.back()) != mark.lane ||
                      std::get<1>(rows_.back()) != mark.row;
        if (is_new) rows_.emplace_back(mark.lane, mark.row, 0);
        ++std::get<2>(rows_.back());
    }
}

// Small numbers pack best: a begin is told from the end of the one before on its row, which is
// never behind it, and a detail by how far it is from the last, twice that or, if before, less one.
void Marks::fill_columns() {
    uint64_t free_ns = 0;
    int64_t last = 0;
    for (size_t i = 0; i < marks_.size(); ++i) {
        const Mark& mark = marks_[i];
        bool is_first = i == 0 || marks_[i - 1].lane != mark.lane || marks_[i - 1].row != mark.row;
        if (is_first) free_ns = 0;
        calls_.number(mark.call_and_kind);
        lengths_.number(mark.length_ns);
        gaps_.number(mark.begin_ns - free_ns);
        free_ns = mark.begin_ns + mark.length_ns;
        const int64_t step = int64_t{mark.detail} - last;
        details_at_.number(static_cast<uint64_t>(step < 0 ? -2 * step - 1 : 2 * step));
        last = mark.detail;
    }
}

void Marks::write_members(sink::Buffer& out) {
    find_rows();
    threads_ = comms_.size();
    out.append("\"lanes\":[");
    for (size_t i = 0; i < lanes_.size(); ++i) {
        const Lane& lane = lanes_[i];
        out.append(i == 0 ? "[" : ",[");
        out.number(lane.pid);
        out.append(',');
        out.number(lane.tid);
        out.append(',');
        sink::write_text(out, lane.type);
        out.append(',');
        sink::write_text(out, comms_[uint64_t{lane.pid} << 32 | lane.tid]);
        out.append(']');
    }
    out.append("],\"rows\":[");
    for (size_t i = 0; i < rows_.size(); ++i) {
        auto [lane, row, marks] = rows_[i];
        out.append(i == 0 ? "[" : ",[");
        out.number(lane);
        out.append(',');
        out.number(row);
        out.append(',');
        out.number(marks);
        out.append(']');
    }
    out.append("],\"losses\":[");
    for (size_t i = 0; i < losses_.size(); ++i) {
        out.append(i == 0 ? "[" : ",[");
        out.number(losses_[i].time_ns);
        out.append(',');
        out.number(losses_[i].count);
        out.append(']');
    }
    out.append("],\"left_out\":");
    out.number(left_out_);
    out.append(",\"least_ns\":");
    out.number(least_ns_);
}

}  // namespace mlbcc::view
