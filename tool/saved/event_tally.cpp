#include "saved/event_tally.h"

#include <algorithm>
#include <functional>

namespace mlbcc::saved {
namespace {

constexpr const char* kUsualLayer = "userspace";  // of calls that have no span

}  // namespace

void EventTally::add(const Json& line) {
    if (read_event(line, event_)) {
        add_line(event_.id, event_.time_ns);
        add_event(event_);
    } else if (const std::optional<LostEvents> lost = read_lost(line)) {
        add_line(lost->id, lost->time_ns);
        lost_ += lost->count;
    }
}

void EventTally::add_line(uint64_t id, uint64_t time_ns) {
    ++lines_;
    last_ = id;
    end_ns_ = std::max(end_ns_, time_ns);
}

void EventTally::add_event(const EventFields& one) {
    processes_.insert(one.pid);
    threads_.emplace(one.pid, one.tid);
    if (one.phase != event::Phase::end && one.phase != event::Phase::complete) return;
    // An event says whose it is; a span is named after its function.
    const bool is_span = one.function.empty();
    const std::string type(one.type), name(one.name);
    const std::string function(is_span ? one.name : one.function);
    const std::string symbol(one.symbol.empty() ? std::string_view(function) : one.symbol);
    if (is_span && known_types_.insert(type).second) span_types_.push_back(type);
    Times& times = times_[{function, symbol, type, name, is_span}];
    ++times.calls;
    times.total_ns += one.duration_ns;
    times.max_ns = std::max(times.max_ns, one.duration_ns);
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
