// A timeline as text.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <tuple>

#include <fmt/format.h>

#include "sink/format.h"
#include "text/terminal_text.h"
#include "view/timeline_data.h"

namespace mlbcc::view {
namespace {

using Column = TimeRow::Column;

constexpr size_t kLeastBar = 3;    // columns of a call that is drawn as one
constexpr size_t kLeastTime = 40;  // columns, however narrow the terminal is
constexpr size_t kTickColumns = 14, kNames = 3;
constexpr double kNothing = 1e-3;                      // of a column: rounding
constexpr std::array kColors{32, 33, 34, 35, 36, 92};  // SGR; red is for losses
constexpr int kRed = 31;

struct Glyphs {
    const char *open, *line, *close, *launch, *moment, *edge;
    std::array<const char*, 4> shades;
};
constexpr Glyphs kUnicode{"├", "─", "┤", "╵", "·", "│", {"░", "▒", "▓", "█"}};
constexpr Glyphs kAscii{"[", "-", "]", "'", ",", "|", {".", ":", "=", "#"}};

// A byte a column.
std::string plain(std::string_view text) {
    std::string made = on_terminal(text);
    std::ranges::replace_if(
        made, [](unsigned char c) { return c > 0x7e; }, '?');
    return made;
}

// One row of characters, each with a colour.
class Line {
public:
    explicit Line(bool colors) : colors_(colors) {}
    void put(const char* glyph, int color = 0) {
        if (colors_ && color != color_) {
            text_ += fmt::format("\x1b[{}m", color);
            color_ = color;
        }
        text_ += glyph;
    }
    std::string take() {
        if (color_ != 0) text_ += "\x1b[0m";
        return std::move(text_);
    }

private:
    bool colors_;
    int color_ = 0;
    std::string text_;
};

// Time in one unit for a whole axis: "1.250 s", "12 ms".
class Clock {
public:
    Clock(uint64_t to_ns, uint64_t step_ns) {
        if (to_ns >= 1'000'000'000) {
            unit_ = "s", unit_ns_ = 1e9;
        } else if (to_ns >= 1'000'000) {
            unit_ = "ms", unit_ns_ = 1e6;
        }
        const double step = static_cast<double>(std::max<uint64_t>(step_ns, 1)) / unit_ns_;
        digits_ = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
    }
    std::string text(uint64_t ns) const {
        return fmt::format("{:.{}f} {}", static_cast<double>(ns) / unit_ns_, digits_, unit_);
    }

private:
    const char* unit_ = "us";
    double unit_ns_ = 1e3;
    int digits_ = 0;
};

// The shortest of 1, 2, 5, 10, 20, ... that is long enough.
uint64_t round_step(uint64_t least_ns) {
    for (uint64_t ten = 1;; ten *= 10) {
        for (uint64_t digit : {1, 2, 5}) {
            if (digit * ten >= least_ns) return digit * ten;
        }
    }
}

// The first bar from column `i` on, from and to: a call that has enough columns. Those at its ends
// that it has less than half of are not drawn as its own. Without one, both are the next column.
std::pair<size_t, size_t> bar_at(std::vector<Column>& columns, size_t i) {
    size_t end = i + 1;
    while (end < columns.size() && columns[i].all.call != 0 &&
           columns[end].all.call == columns[i].all.call)
        ++end;
    if (end - i < kLeastBar) return {i + 1, i + 1};
    size_t first = i, last = end - 1;
    if (columns[first].call < 0.5) ++first;
    if (columns[last].call < 0.5) --last;
    if (last + 1 - first < kLeastBar) return {i, end};
    for (size_t cut : {i, end - 1}) {
        if (cut >= first && cut <= last) continue;
        columns[cut].busy -= columns[cut].call;
        if (columns[cut].busy < kNothing) columns[cut] = {};
    }
    return {first, last + 1};
}

class Picture {
public:
    Picture(TimelineData& data, const TimelineLook& look)
        : data_(data), look_(look), glyphs_(look.ascii ? kAscii : kUnicode),
          from_ns_(data.from_ns()), to_ns_(std::max(data.to_ns(), from_ns_ + 1)) {
        for (const auto& [id, thread] : data.threads) {
            for (const auto& [type, lane] : thread.lanes)
                label_ = std::max(label_, type.size() + 3);
        }
        label_ = std::min<size_t>(label_, 24);
        const size_t beside = label_ + 2;
        width_ = std::max(look.width - std::min(look.width, beside), kLeastTime);
    }
    std::string text();

private:
    std::string axis() const;
    std::string bar(size_t columns, const Column& call) const;
    void put_short(Line& line, const Column& one) const;
    std::string row(std::vector<Column> columns) const;
    void add_thread(std::string& out, TimelineData::ThreadId id, TimelineThread& thread) const;
    std::string losses() const;
    std::string names() const;
    std::string label(const std::string& text) const {
        return sink::padded("  " + sink::shortened(plain(text), label_ - 3), label_);
    }
    std::string line(const std::string& label, const std::string& drawn) const {
        return label + glyphs_.edge + drawn + glyphs_.edge + "\n";
    }
    int color_of(const Column& one) const {
        return kColors[static_cast<size_t>(one.all.name) % kColors.size()];
    }

    TimelineData& data_;
    const TimelineLook& look_;
    const Glyphs& glyphs_;
    uint64_t from_ns_, to_ns_;
    size_t label_ = 8, width_;
};

std::string Picture::axis() const {
    const uint64_t length = to_ns_ - from_ns_;
    const uint64_t step = round_step(length * kTickColumns / width_ + 1);
    const Clock clock(to_ns_, step);
    std::string out(width_ + 1, ' ');
    for (uint64_t at = (from_ns_ + step - 1) / step * step; at <= to_ns_; at += step) {
        const size_t column =
            static_cast<size_t>(static_cast<unsigned __int128>(at - from_ns_) * width_ / length);
        const std::string text = "|" + clock.text(at);
        if (column + text.size() > out.size()) break;
        out.replace(column, text.size(), text);
    }
    out.resize(out.find_last_not_of(' ') + 1);
    return std::string(label_ + 1, ' ') + out + "\n";
}

// "├cuMemcpyHtoD──┤": as much of the name as there is room for.
std::string Picture::bar(size_t columns, const Column& call) const {
    const size_t room = columns - 2;
    std::string name = plain(data_.table.rows()[call.all.name].name);
    if (name.size() > room) name = room < kLeastBar ? "" : name.substr(0, room);
    std::string out = glyphs_.open + name;
    for (size_t i = name.size(); i < room; ++i) out += glyphs_.line;
    return out + glyphs_.close;
}

void Picture::put_short(Line& line, const Column& one) const {
    if (one.all.launches > 0) return line.put(glyphs_.launch, color_of(one));
    if (one.busy > 0) {
        const auto shade = static_cast<size_t>(std::min(one.busy, 0.99) * 4);
        return line.put(glyphs_.shades.at(shade), color_of(one));
    }
    line.put(one.all.moments > 0 || one.all.call != 0 ? glyphs_.moment : " ");
}

std::string Picture::row(std::vector<Column> columns) const {
    Line line(look_.colors);
    for (size_t i = 0; i < columns.size();) {
        const auto [begin, end] = bar_at(columns, i);
        for (; i < begin; ++i) put_short(line, columns[i]);
        if (begin < end)
            line.put(bar(end - begin, columns[begin]).c_str(), color_of(columns[begin]));
        i = std::max(i, end);
    }
    return line.take();
}

// What is asked of a GPU and userspace, then what is called from there, down to the memory.
int rank_of(std::string_view type) {
    if (type == "userspace" || type.starts_with("gpu_")) return 0;
    if (type == "kernel") return 2;
    if (type == "sched") return 3;
    return type == "memory" ? 4 : 1;
}

void Picture::add_thread(std::string& out, TimelineData::ThreadId id,
                         TimelineThread& thread) const {
    out += fmt::format("{}/{} {}\n", id.first, id.second, plain(thread.comm));
    std::vector<std::pair<int, std::string>> order;
    for (const auto& [type, lane] : thread.lanes) order.emplace_back(rank_of(type), type);
    std::ranges::sort(order);
    for (const auto& [rank, type] : order) {
        std::string shown = type;
        for (TimeRow& one : thread.lanes.find(type)->second.rows) {
            out += line(label(shown), row(one.shown(data_.columns, from_ns_, to_ns_, width_)));
            shown.clear();
        }
    }
}

std::string Picture::losses() const {
    Line drawn(look_.colors);
    for (const Column& one : data_.losses.shown(data_.columns, from_ns_, to_ns_, width_))
        drawn.put(one.all.moments > 0 ? "!" : " ", one.all.moments > 0 ? kRed : 0);
    return line(label("lost"), drawn.take());
}

// What the lanes are mostly made of.
std::string Picture::names() const {
    std::map<std::string, std::vector<const CallTable::Row*>> types;
    for (const CallTable::Row& row : data_.table.rows()) {
        if (row.count > 0) types[row.type].push_back(&row);
    }
    std::string out;
    for (auto& [type, rows] : types) {
        std::ranges::stable_sort(rows, [](const auto* a, const auto* b) {
            return a->total_ns != b->total_ns ? a->total_ns > b->total_ns : a->count > b->count;
        });
        out += label(type);
        for (size_t i = 0; i < std::min(rows.size(), kNames); ++i) {
            const CallTable::Row& row = *rows[i];
            out += fmt::format("{}{} {}", i == 0 ? "" : ", ", plain(row.name),
                               sink::grouped(row.count));
            if (row.timed > 0) out += " in " + sink::short_duration(row.total_ns);
        }
        if (rows.size() > kNames) out += fmt::format(", and {} more", rows.size() - kNames);
        out += '\n';
    }
    return out;
}

std::string Picture::text() {
    const uint64_t column_ns = (to_ns_ - from_ns_) / width_;
    const Clock clock(to_ns_, std::max<uint64_t>((to_ns_ - from_ns_) / 1000, 1));
    const uint64_t whole_ns = std::max(data_.ending.time_ns, to_ns_);
    std::string out =
        fmt::format("=== TIMELINE ===  {} to {} of {}, {}, {}, {} lost; a column is {}\n\n",
                    clock.text(from_ns_), clock.text(to_ns_), sink::short_duration(whole_ns),
                    sink::plural(data_.threads.size(), "thread"),
                    sink::plural(data_.calls + data_.moments, "call"),
                    sink::grouped(data_.ending.lost), sink::short_duration(column_ns));
    std::vector<std::pair<uint64_t, TimelineData::ThreadId>> busiest;
    size_t asleep = 0;
    for (const auto& [id, thread] : data_.threads) asleep += thread.slept() ? 1 : 0;
    if (asleep < 2) asleep = 0;  // one is shown
    for (const auto& [id, thread] : data_.threads) {
        if (asleep == 0 || !thread.slept()) busiest.emplace_back(thread.calls, id);
    }
    std::ranges::stable_sort(busiest, std::ranges::greater{},
                             &std::pair<uint64_t, TimelineData::ThreadId>::first);
    const size_t more = busiest.size() - std::min(busiest.size(), data_.wanted.top);
    busiest.resize(busiest.size() - more);
    std::map<uint32_t, int> ranks;  // of processes: their best thread's
    auto rank = [&](const TimelineData::ThreadId& id) { return data_.threads.at(id).rank(); };
    for (const auto& [calls, id] : busiest) {
        const auto [known, is_new] = ranks.try_emplace(id.first, rank(id));
        if (!is_new) known->second = std::min(known->second, rank(id));
    }
    std::ranges::sort(busiest, {}, [&](const auto& one) {
        const TimelineData::ThreadId& id = one.second;
        return std::tuple(ranks[id.first], id.first, rank(id), id.second);
    });
    out += axis();
    for (const auto& [calls, id] : busiest) add_thread(out, id, data_.threads.at(id));
    if (asleep > 0) {
        out += fmt::format("{} slept from their beginning to their end\n",
                           sink::plural(asleep, "thread"));
    }
    if (data_.ending.lost > 0) out += losses();
    if (more > 0) out += fmt::format("and {} (--top)\n", sink::plural(more, "thread"));
    if (data_.not_held > 0)
        out += fmt::format("{} found no room\n", sink::plural(data_.not_held, "call"));
    out += "\n" + names();
    out += fmt::format("  {0}name{1} one call; {2}{3}{4}{5} shorter ones, by their part of the "
                       "time; {6} launches; {7} moments\n",
                       glyphs_.open, glyphs_.close, glyphs_.shades[0], glyphs_.shades[1],
                       glyphs_.shades[2], glyphs_.shades[3], glyphs_.launch, glyphs_.moment);
    return out;
}

}  // namespace

std::string timeline_text(TimelineData& data, const TimelineLook& look) {
    return Picture(data, look).text();
}

}  // namespace mlbcc::view
