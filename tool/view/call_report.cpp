// The calls of a trace, or some of them, as a report: by name, and the longest ones.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sink/format.h"
#include "sink/json.h"
#include "text/glob.h"
#include "text/terminal_text.h"
#include "view/call_table.h"
#include "view/gaps.h"
#include "view/values.h"
#include "view/view.h"

namespace mlbcc::view {
namespace {

using Row = CallTable::Row;
constexpr size_t kFirstStack = 5;  // frames of a call that the text shows

struct Slow {
    uint64_t duration_ns = 0, begin_ns = 0, id = 0;
    uint32_t pid = 0, tid = 0;
    std::string comm, type, name;
    std::string arguments, ret;  // JSON, "" for none
    std::vector<std::string> stack;

    // Of two equally long ones the earlier.
    bool operator<(const Slow& other) const {
        return duration_ns != other.duration_ns ? duration_ns > other.duration_ns : id < other.id;
    }
};

std::string json_of(const saved::FieldValue& value) {
    sink::Buffer out{256};
    write_json(out, value);
    return std::string(out.view());
}

class Report : public CallReport {
public:
    explicit Report(CallSelection wanted) : wanted_(std::move(wanted)), gaps_(wanted_.from_ns) {}

    void slice(const Slice& slice) override {
        if (slice.call->same == nullptr) ++all_;
        look_for_gaps(*slice.call, slice.begin_ns, slice.end_ns);
        if (!is_wanted(*slice.call, slice.begin_ns)) return;
        CallTable::Id id = table_.id_of(slice.call->type, slice.call->name);
        table_.count(id);
        const bool again = chosen_calls_.has(*slice.call);
        if (!again) ++chosen_;
        if (slice.missing != Missing::nothing && !slice.call->goes_on) return;
        table_.time(id, slice.end_ns - slice.begin_ns);
        if (!again) keep_if_slow(slice);
    }
    void instant(const DrawnEvent& record) override {
        if (record.same == nullptr) ++all_;
        look_for_gaps(record, record.time_ns, record.time_ns);
        if (!is_wanted(record, record.time_ns)) return;
        table_.count(table_.id_of(record.type, record.name));
        if (!chosen_calls_.has(record)) ++chosen_;
    }
    void lost(const saved::LostEvents&) override {}
    bool failed() const override { return false; }
    Result<void> finish(const Ending& ending) override {
        ending_ = ending;
        gaps_found_ = gaps_.longest(wanted_.top, std::min(wanted_.to_ns, ending.time_ns));
        std::sort(slow_.begin(), slow_.end());
        return {};
    }

    bool is_empty() const override { return chosen_ == 0; }
    std::string text() const override;
    std::string json() const override;

private:
    bool is_wanted(const DrawnEvent& record, uint64_t begin_ns) const {
        if (begin_ns < wanted_.from_ns || begin_ns >= wanted_.to_ns) return false;
        return is_chosen(wanted_, record);
    }
    // Also those that began before.
    void look_for_gaps(const DrawnEvent& record, uint64_t begin_ns, uint64_t end_ns) {
        if (begin_ns >= wanted_.to_ns || end_ns < wanted_.from_ns) return;
        if (!is_chosen(wanted_, record)) return;
        gaps_.add(std::max(begin_ns, wanted_.from_ns), std::min(end_ns, wanted_.to_ns));
    }
    void keep_if_slow(const Slice& slice);
    std::vector<const Row*> rows() const;
    std::string table_text() const;
    std::string slow_text() const;
    std::string gap_text() const;
    std::string gap_json() const;  // a list's elements

    CallSelection wanted_;
    ChosenCalls chosen_calls_{wanted_};
    CallTable table_;
    std::vector<Slow> slow_;  // a heap, the shortest first; sorted at the end
    Gaps gaps_;
    std::vector<Gap> gaps_found_;
    uint64_t all_ = 0, chosen_ = 0;
    Ending ending_;
};

void Report::keep_if_slow(const Slice& slice) {
    const DrawnEvent& call = *slice.call;
    uint64_t duration = slice.end_ns - slice.begin_ns;
    Slow one{duration, slice.begin_ns, call.id, call.pid, call.tid};
    if (slow_.size() == wanted_.top) {
        if (slow_.empty() || !(one < slow_.front())) return;
        std::pop_heap(slow_.begin(), slow_.end());
        slow_.pop_back();
    }
    one.comm = call.comm;
    one.type = call.type;
    one.name = call.name;
    each_argument(slice, [&](const DrawnEvent::Argument& argument) {
        sink::Buffer name{64};
        sink::write_text(name, argument.name);
        one.arguments += one.arguments.empty() ? "{" : ",";
        one.arguments += std::string(name.view()) + ":" + json_of(argument.value);
    });
    if (!one.arguments.empty()) one.arguments += '}';
    if (const std::optional<saved::FieldValue>& ret = return_of(slice)) one.ret = json_of(*ret);
    for (std::string_view frame : stack_of(slice)) one.stack.emplace_back(frame);
    slow_.push_back(std::move(one));
    std::push_heap(slow_.begin(), slow_.end());
}

// Those with most time first.
std::vector<const Row*> Report::rows() const {
    std::vector<const Row*> rows;
    for (const Row& row : table_.rows()) {
        if (row.count > 0) rows.push_back(&row);
    }
    std::ranges::stable_sort(rows, [](const Row* a, const Row* b) {
        return a->total_ns != b->total_ns ? a->total_ns > b->total_ns : a->count > b->count;
    });
    return rows;
}

std::string label_of(const Row& row) {
    return on_terminal(row.type + "  " + row.name);
}

std::string Report::table_text() const {
    std::vector<const Row*> rows = this->rows();
    size_t shown = std::min(rows.size(), wanted_.top), width = 4;
    for (size_t i = 0; i < shown; ++i) {
        width = std::max(width, sink::width_of(label_of(*rows[i])));
    }
    width = std::min<size_t>(width, 60);
    std::string out = sink::padded("call", width);
    for (const char* column : {"calls", "total", "p50", "p99", "max"}) {
        out += sink::right_aligned(column, 11);
    }
    out += '\n';
    for (size_t i = 0; i < shown; ++i) {
        const Row& row = *rows[i];
        out += sink::padded(sink::shortened(label_of(row), width), width);
        out += sink::right_aligned(sink::grouped(row.count), 11);
        for (uint64_t ns : {row.total_ns, CallTable::quantile(row, 0.5),
                            CallTable::quantile(row, 0.99), row.max_ns}) {
            out += sink::right_aligned(row.timed > 0 ? sink::short_duration(ns) : "-", 11);
        }
        out += '\n';
    }
    size_t more = rows.size() - shown;
    if (more > 0) out += fmt::format("and {} (--top)\n", sink::plural(more, "name"));
    return out;
}

std::string Report::slow_text() const {
    std::string out;
    for (const Slow& one : slow_) {
        out += fmt::format(
            "{:>9}  at {:.6f} s  {}/{} {}  {}{}{}\n", sink::short_duration(one.duration_ns),
            static_cast<double>(one.begin_ns) * 1e-9, one.pid, one.tid, on_terminal(one.comm),
            on_terminal(one.name), on_terminal(one.arguments.empty() ? "" : " " + one.arguments),
            on_terminal(one.ret.empty() ? "" : " = " + one.ret));
        for (size_t i = 0; i < std::min(one.stack.size(), kFirstStack); ++i) {
            out += std::string(15, ' ') + on_terminal(one.stack[i]) + '\n';
        }
    }
    return out;
}

// Those that would be seen in a picture of the whole.
std::string Report::gap_text() const {
    std::string out;
    const uint64_t least = (std::min(wanted_.to_ns, ending_.time_ns) - wanted_.from_ns) / 200;
    for (const Gap& one : gaps_found_) {
        if (chosen_ == 0 || one.length_ns() < std::max<uint64_t>(least, 1)) break;
        out += fmt::format(
            "{:>9}  from {:.6f} s to {:.6f} s\n", sink::short_duration(one.length_ns()),
            static_cast<double>(one.begin_ns) * 1e-9, static_cast<double>(one.end_ns) * 1e-9);
    }
    return out;
}

std::string Report::text() const {
    std::string out =
        fmt::format("=== CALLS ===  {:.2f} s, {} of {}, {} lost\n\n",
                    static_cast<double>(ending_.time_ns) * 1e-9, sink::grouped(chosen_),
                    sink::plural(all_, "call"), sink::grouped(ending_.lost));
    out += table_text();
    if (!slow_.empty()) out += "\nSLOWEST CALLS\n" + slow_text();
    if (std::string gaps = gap_text(); !gaps.empty()) {
        out += "\nLONGEST GAPS, WITHOUT ANY OF THESE CALLS\n" + gaps;
    }
    return out;
}

std::string Report::gap_json() const {
    std::string out;
    for (const Gap& one : gaps_found_) {
        out += fmt::format(R"({}{{"begin_ns":{},"duration_ns":{}}})", out.empty() ? "" : ",",
                           one.begin_ns, one.length_ns());
    }
    return out;
}

std::string Report::json() const {
    sink::Buffer out{64 << 10};
    auto number = [&](std::string_view before, uint64_t value) {
        out.append(before);
        out.number(value);
    };
    auto string = [&](std::string_view before, std::string_view value) {
        out.append(before);
        sink::write_text(out, value);
    };
    number(R"({"schema":"mlbcc-calls","version":1,"duration_ns":)", ending_.time_ns);
    number(R"(,"lost":)", ending_.lost);
    number(R"(,"all":)", all_);
    number(R"(,"chosen":)", chosen_);
    out.append(R"(,"calls":[)");
    std::string_view before = "";
    for (const Row* row : rows()) {
        out.append(before);
        before = ",";
        string(R"({"type":)", row->type);
        string(R"(,"name":)", row->name);
        number(R"(,"calls":)", row->count);
        number(R"(,"timed":)", row->timed);
        number(R"(,"total_ns":)", row->total_ns);
        number(R"(,"min_ns":)", row->timed > 0 ? row->min_ns : 0);
        for (auto [key, share] :
             {std::pair(R"(,"p50_ns":)", 0.5), {R"(,"p90_ns":)", 0.9}, {R"(,"p99_ns":)", 0.99}}) {
            number(key, CallTable::quantile(*row, share));
        }
        number(R"(,"max_ns":)", row->max_ns);
        out.append('}');
    }
    out.append(R"(],"slowest":[)");
    before = "";
    for (const Slow& one : slow_) {
        out.append(before);
        before = ",";
        number(R"({"event_id":)", one.id);
        number(R"(,"begin_ns":)", one.begin_ns);
        number(R"(,"duration_ns":)", one.duration_ns);
        number(R"(,"pid":)", one.pid);
        number(R"(,"tid":)", one.tid);
        string(R"(,"comm":)", one.comm);
        string(R"(,"type":)", one.type);
        string(R"(,"name":)", one.name);
        out.append(R"(,"args":)" + (one.arguments.empty() ? "{}" : one.arguments));
        out.append(R"(,"ret":)" + (one.ret.empty() ? "null" : one.ret));
        out.append(R"(,"stack":)");
        write_list(out, std::vector<std::string_view>(one.stack.begin(), one.stack.end()));
        out.append('}');
    }
    out.append(R"(],"gaps":[)" + gap_json());
    out.append(R"(],"summary":)" + (ending_.has_summary ? ending_.summary : "null") + "}\n");
    return std::string(out.view());
}

}  // namespace

bool is_chosen(const CallSelection& wanted, const DrawnEvent& record) {
    auto is_its = [&](const std::string& type) { return glob_match(type, record.type); };
    if (!wanted.types.empty() && std::ranges::none_of(wanted.types, is_its)) return false;
    return wanted.name.empty() || glob_match(wanted.name, record.name) ||
           glob_match(wanted.name, record.function);
}

bool ChosenCalls::has(const DrawnEvent& record) {
    if (record.same == nullptr) return false;
    if (is_chosen(wanted_, *record.same)) return true;
    const bool is_last =
        record.tid == tid_ && record.time_ns == time_ns_ && record.traced() == function_;
    tid_ = record.tid;
    time_ns_ = record.time_ns;
    function_ = record.traced();
    return is_last;
}

std::unique_ptr<CallReport> report_calls(const CallSelection& wanted) {
    return std::make_unique<Report>(wanted);
}

}  // namespace mlbcc::view
