#include "saved/event_tally.h"

#include <algorithm>
#include <functional>

namespace mlbcc::saved {
namespace {

constexpr const char* kUsualLayer = "userspace";  // of calls that have no span

}  // namespace

void EventTally::add(const Json& line) {
    std::string_view phase = text_of(line, "phase");
    bool is_lost = phase.empty() && text_of(line, "type") == "lost";
    if (phase.empty() && !is_lost) return;
    ++lines_;
    last_ = unsigned_of(line, "event_id");
    end_ns_ = std::max(end_ns_, nanoseconds_of(line, "ts", 1e9));
    if (is_lost) {
        lost_ += unsigned_of(line, "count");
    } else {
        add_event(line, phase);
    }
}

void EventTally::add_event(const Json& line, std::string_view phase) {
    auto pid = static_cast<uint32_t>(unsigned_of(line, "pid"));
    processes_.insert(pid);
    threads_.emplace(pid, static_cast<uint32_t>(unsigned_of(line, "tid")));
    if (phase != "E" && phase != "X") return;
    // An event says whose it is; a span is named after its function.
    bool is_span = !has(line, "function");
    std::string type(text_of(line, "type")), name(text_of(line, "name"));
    std::string function(is_span ? name : text_of(line, "function"));
    std::string symbol(has(line, "symbol") ? text_of(line, "symbol") : function);
    if (is_span && known_types_.insert(type).second) span_types_.push_back(type);
    uint64_t duration_ns = nanoseconds_of(line, "duration_us", 1e3);
    Times& times = times_[{function, symbol, type, name, is_span}];
    ++times.calls;
    times.total_ns += duration_ns;
    times.max_ns = std::max(times.max_ns, duration_ns);
}

// The clauses of one function see the same calls: the one that saw the most stands for all.
std::map<std::pair<std::string, std::string>, EventTally::Form> EventTally::forms() const {
    std::map<std::pair<std::string, std::string>, Form> forms;
    for (const auto& [clause, times] : times_) {
        Form& form = forms[{clause.function, clause.symbol}];
        if (clause.is_span && form.layer.empty()) form.layer = clause.type;
        if (times.calls > form.times.calls) form.times = times;
    }
    for (auto& [names, form] : forms) {
        if (form.layer.empty()) form.layer = kUsualLayer;
    }
    return forms;
}

sink::TraceEnd EventTally::end() const {
    sink::TraceEnd end;
    end.time_ns = end_ns_;
    end.events = lines_;
    end.lost = lost_;
    end.processes = processes_.size();
    end.threads = threads_.size();
    std::map<std::pair<std::string, std::string>, sink::FunctionTime> functions;
    for (const auto& [names, form] : forms()) {
        sink::FunctionTime fresh{names.first, "", form.layer};
        sink::FunctionTime& all =
            functions.try_emplace({names.first, form.layer}, fresh).first->second;
        all.calls += form.times.calls;
        all.total_ns += form.times.total_ns;
        all.max_ns = std::max(all.max_ns, form.times.max_ns);
    }
    for (const auto& [names, time] : functions) end.metrics.functions.push_back(time);
    std::ranges::stable_sort(end.metrics.functions, std::greater{}, &sink::FunctionTime::max_ns);
    return end;
}

std::vector<sink::Layer> EventTally::layers() const {
    std::vector<sink::Layer> layers;
    std::unordered_set<std::string> known;
    auto add = [&](const std::string& type) {
        if (known.insert(type).second) layers.push_back({type, {}, {}});
    };
    for (const std::string& type : span_types_) add(type);
    for (const auto& [names, form] : forms()) add(form.layer);
    return layers;
}

}  // namespace mlbcc::saved
