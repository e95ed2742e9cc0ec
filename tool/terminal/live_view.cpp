#include "terminal/live_view.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "sink/cost_text.h"
#include "sink/summary_text.h"
#include "text/terminal_text.h"

namespace mlbcc::terminal {
namespace {

constexpr size_t kOutputLines = 4, kLeastForOutput = 16, kCell = 10, kCells = 6, kLeastName = 12;
constexpr int kColumns = 7;

std::string plain(std::string text) {
    std::ranges::replace(text, '\t', ' ');
    return on_terminal(text);
}

// "openat  Time in system calls": what tells rows apart stands where it is not cut.
std::string labelled(const std::string& label, const sink::Group& by) {
    return by.empty() ? label : sink::group_label(by) + "  " + label;
}

std::vector<LiveRow> rows_of(const sink::MetricSnapshot& metrics) {
    std::vector<LiveRow> rows;
    for (const sink::FunctionTime& one : metrics.functions) {
        LiveRow& row = rows.emplace_back();
        row.name = one.function;
        row.calls = one.calls;
        row.unit = rules::Unit::nanoseconds;
        row.total = one.total_ns;
        row.max = one.max_ns;
    }
    for (const sink::Stat& one : metrics.stats) {
        LiveRow& row = rows.emplace_back();
        row.name = labelled(one.label, one.by);
        row.calls = one.calls;
        row.unit = one.unit;
        if (one.kind == plan::AggregateKind::count) continue;
        row.is_signed = one.is_signed;
        row.total = one.value;
    }
    for (const sink::Hist& one : metrics.hists) {
        LiveRow& row = rows.emplace_back();
        row.name = labelled(one.label, one.by);
        row.calls = one.count;
        row.unit = one.unit;
        row.is_signed = one.is_signed;
        row.total = one.sum;
        if (one.count == 0) continue;
        row.slow = sink::bound_of(one, 0.99);
        row.max = one.max;
    }
    for (const sink::Gauge& one : metrics.gauges) {
        LiveRow& row = rows.emplace_back();
        row.name = fmt::format("{} (held, pid {})", labelled(one.name, one.by), one.pid);
        row.is_counted = false;
        row.unit = one.unit;
        row.is_signed = true;
        row.total = static_cast<uint64_t>(one.value);
        row.max = static_cast<uint64_t>(one.peak);
    }
    return rows;
}

std::optional<uint64_t> mean_of(const LiveRow& row) {
    if (!row.total || row.calls == 0) return {};
    return sink::average(*row.total, row.calls, row.is_signed);
}

double number(const LiveRow& row, const std::optional<uint64_t>& bits) {
    return bits ? sink::as_double(*bits, row.is_signed) : 0;
}

std::string rate_text(double rate) {
    return rate > 0 && rate < 10 ? fmt::format("{:.1f}", rate)
                                 : sink::grouped(static_cast<uint64_t>(std::llround(rate)));
}

std::string line_of(const LiveRow& row, size_t name_width) {
    auto cell = [](const std::string& text) { return sink::right_aligned(text, kCell); };
    auto amount = [&](const std::optional<uint64_t>& value) {
        return cell(value ? sink::short_amount(*value, row.unit, row.is_signed) : "");
    };
    std::string line = sink::padded(sink::shortened(plain(row.name), name_width), name_width);
    line += cell(row.is_counted ? rate_text(row.rate) : "");
    line += cell(row.is_counted ? sink::grouped(row.calls) : "");
    return line + amount(row.total) + amount(mean_of(row)) + amount(row.slow) + amount(row.max);
}

void add_line(LiveView::Screen& screen, std::string text, LiveView::Style style) {
    screen.marks.push_back({screen.lines.size(), 0, text.size(), style});
    screen.lines.push_back(std::move(text));
}

bool contains(const std::string& text, const std::string& part) {
    auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) ==
               std::tolower(static_cast<unsigned char>(b));
    };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

}  // namespace

void LiveView::take(const sink::TraceEnd& counted, std::string job, uint64_t time_ns,
                    uint64_t cpu_ns) {
    if (is_paused_) return;
    job_ = std::move(job);
    const double seconds =
        std::max<double>(1, static_cast<double>(time_ns - std::min(time_ns, time_ns_))) / 1e9;
    rows_ = rows_of(counted.metrics);
    std::map<std::string, uint64_t> calls;
    for (LiveRow& row : rows_) {
        uint64_t before = calls_before_[row.name];
        row.rate = static_cast<double>(row.calls - std::min(before, row.calls)) / seconds;
        calls[row.name] = row.calls;
    }
    calls_before_ = std::move(calls);
    events_rate_ =
        static_cast<double>(counted.events - std::min(last_.events, counted.events)) / seconds;
    cpu_share_ = static_cast<double>(cpu_ns - std::min(cpu_ns_, cpu_ns)) / 1e7 / seconds;
    cost_ = counted.metrics.cost;
    last_ = counted;
    last_.metrics = {};
    time_ns_ = time_ns;
    cpu_ns_ = cpu_ns;
}

bool LiveView::press(char character) {
    if (edits_filter_) {
        if (static_cast<unsigned char>(character) >= 0x20) filter_ += character;
        top_ = 0;
        return true;
    }
    const int order = static_cast<int>(order_);
    switch (character) {
    case 'q': return false;
    case ' ':
    case 'p': is_paused_ = !is_paused_; break;
    case 'h':
    case '?': helps_ = !helps_; break;
    case '/': edits_filter_ = true; break;
    case '<': order_ = static_cast<Column>((order + kColumns - 1) % kColumns); break;
    case '>': order_ = static_cast<Column>((order + 1) % kColumns); break;
    case 'r': order_ = Column::rate; break;
    case 'c': order_ = Column::calls; break;
    case 't': order_ = Column::total; break;
    case 'm': order_ = Column::mean; break;
    case 'n': order_ = Column::name; break;
    default: break;
    }
    return true;
}

void LiveView::press(LiveKey key) {
    switch (key) {
    case LiveKey::up: top_ -= std::min<size_t>(top_, 1); break;
    case LiveKey::down: ++top_; break;
    case LiveKey::page_up: top_ -= std::min(top_, page_); break;
    case LiveKey::page_down: top_ += page_; break;
    case LiveKey::home: top_ = 0; break;
    case LiveKey::end: top_ = rows_.size(); break;
    case LiveKey::backspace:
        if (edits_filter_ && !filter_.empty()) filter_.pop_back();
        break;
    case LiveKey::enter: edits_filter_ = false; break;
    case LiveKey::escape:
        edits_filter_ = helps_ = false;
        filter_.clear();
        break;
    }
}

std::vector<const LiveRow*> LiveView::shown() const {
    std::vector<const LiveRow*> rows;
    for (const LiveRow& row : rows_) {
        if (contains(row.name, filter_)) rows.push_back(&row);
    }
    auto weight = [&](const LiveRow& row) -> double {
        switch (order_) {
        case Column::rate: return row.rate;
        case Column::calls: return static_cast<double>(row.calls);
        case Column::total: return number(row, row.total);
        case Column::mean: return number(row, mean_of(row));
        case Column::slow: return number(row, row.slow);
        case Column::max: return number(row, row.max);
        case Column::name: return 0;
        }
        return 0;
    };
    // Times and sizes do not compare: times first.
    const bool mixes = order_ != Column::rate && order_ != Column::calls && order_ != Column::name;
    std::stable_sort(rows.begin(), rows.end(), [&](const LiveRow* a, const LiveRow* b) {
        const bool a_time = a->unit == rules::Unit::nanoseconds,
                   b_time = b->unit == rules::Unit::nanoseconds;
        if (mixes && a_time != b_time) return a_time;
        if (weight(*a) != weight(*b)) return weight(*a) > weight(*b);
        return a->name < b->name;
    });
    return rows;
}

void LiveView::add_header(Screen& screen) const {
    std::string line;
    auto add = [&](const std::string& text, Style style) {
        screen.marks.push_back(
            {screen.lines.size(), line.size(), line.size() + text.size(), style});
        line += text;
    };
    if (is_paused_) add("PAUSED  ", Style::loss);
    add(fmt::format("mlbcc  {}", sink::shortened(plain(program_), 24)), Style::strong);
    line += fmt::format("  {} s  {}  {}  ", time_ns_ / 1'000'000'000,
                        sink::plural(last_.processes, "process"),
                        sink::plural(last_.threads, "thread"));
    if (last_.events > 0)  // what is only counted writes none: its rates are the rows'
        line += fmt::format("{} events/s written  ", rate_text(events_rate_));
    const std::string lost = fmt::format("{} lost", sink::grouped(last_.lost));
    if (last_.lost > 0) {
        add(lost, Style::loss);
    } else {
        line += lost;
    }
    line += fmt::format("  tracer {:.1f} % CPU", cpu_share_);
    if (cost_ && cost_->cpu_ns.value_or(0) > 0) {
        const double share = static_cast<double>(cost_->ns) / static_cast<double>(*cost_->cpu_ns);
        const std::string text = fmt::format("probes {:.1f} % of its time", 100 * share);
        line += "  ";
        if (cost_->exceeds(sink::kDearShare)) {
            add(text, Style::loss);
        } else {
            line += text;
        }
    }
    screen.lines.push_back(line);
}

std::string LiveView::titles(size_t name_width) const {
    static constexpr const char* kTitles[] = {"calls/s", "calls", "total", "mean", "p99", "max"};
    auto marked = [&](const char* title, size_t column) {
        return static_cast<size_t>(order_) == column ? fmt::format("[{}]", title) : title;
    };
    std::string line = sink::padded(marked("name", kCells), name_width);
    for (size_t i = 0; i < kCells; ++i) line += sink::right_aligned(marked(kTitles[i], i), kCell);
    return line;
}

std::vector<std::string> LiveView::help() const {
    return {"< >          sort by the column on the left, on the right",
            "r c t m n    sort by calls/s, calls, total, mean, name",
            "/            show only names with this text; Enter keeps it, Esc shows all",
            "p, space     pause the view; tracing goes on",
            "arrows, PgUp, PgDn, Home, End    scroll",
            "q            end the trace; the command goes on, untraced",
            "Ctrl-C       end the command, and with it the trace",
            "h, ?         this help"};
}

std::string LiveView::footer() const {
    if (!edits_filter_ && filter_.empty()) return "q quit  < > sort  / filter  p pause  h help";
    return fmt::format("filter: {}{}", filter_, edits_filter_ ? "_" : "   Esc shows all");
}

void LiveView::add_output(Screen& screen, const std::vector<std::string>& output) const {
    add_line(screen, "--- the program's output; all of it is shown at the end ---", Style::quiet);
    const size_t first = output.size() > kOutputLines ? output.size() - kOutputLines : 0;
    for (size_t i = 0; i < kOutputLines; ++i)
        screen.lines.push_back(first + i < output.size() ? plain(output[first + i]) : "");
}

LiveView::Screen LiveView::draw(size_t height, size_t width,
                                const std::vector<std::string>& output) {
    Screen screen;
    std::vector<std::string>& lines = screen.lines;
    const size_t name_width =
        std::max(kLeastName, width > kCell * kCells ? width - kCell * kCells : 0);
    add_header(screen);
    if (!job_.empty()) add_line(screen, plain(job_), Style::strong);
    add_line(screen, titles(name_width), Style::titles);
    const size_t pane = height >= kLeastForOutput ? kOutputLines + 1 : 0;
    const size_t taken = pane + lines.size() + 1;
    page_ = std::max<size_t>(1, height > taken ? height - taken : 1);
    if (helps_) {
        for (std::string& line : help()) lines.push_back(std::move(line));
    } else {
        std::vector<const LiveRow*> rows = shown();
        top_ = std::min(top_, rows.size() > page_ ? rows.size() - page_ : 0);
        for (size_t i = top_; i < std::min(rows.size(), top_ + page_); ++i)
            lines.push_back(line_of(*rows[i], name_width));
    }
    lines.resize(std::max<size_t>(height > pane + 1 ? height - pane - 1 : 0, 2));
    std::erase_if(screen.marks, [&](const Mark& mark) { return mark.line >= lines.size(); });
    if (pane > 0) add_output(screen, output);
    add_line(screen, footer(), Style::quiet);
    if (lines.size() > height) lines.resize(height);
    for (std::string& line : lines)
        line = width < 4 ? line.substr(0, width) : sink::shortened(line, width);  // "a..."
    return screen;
}

}  // namespace mlbcc::terminal
