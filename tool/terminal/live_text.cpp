#include "terminal/live_text.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "sink/format.h"
#include "sink/json.h"
#include "sink/sink.h"
#include "text/glob.h"
#include "text/terminal_text.h"

namespace mlbcc::terminal {
namespace {

constexpr size_t kThreadWidth = 23;  // a name of 15 characters and 7 digits
constexpr size_t kTookWidth = 9;
constexpr size_t kMostOpen = 65536;  // older ones of these will hardly end: their process has
constexpr uint64_t kSecond = 1'000'000'000;

std::string escaped(std::string_view text) {
    return std::string(sink::without_quotes(sink::quoted(text)));
}

// Text has quotes, as strace shows it; whatever else stands as it is.
std::string text_of(const event::Value& value) {
    using Kind = plan::ValueType::Kind;
    if (value.stack != nullptr) return escaped(value.text);
    const Kind kind = value.type->kind;
    const bool is_text = value.learnt || kind == Kind::text || kind == Kind::character;
    const std::string text = sink::json_text(value);
    return is_text ? text : std::string(sink::without_quotes(text));
}

}  // namespace

LiveText::LiveText(const plan::Plan& plan, LiveFilter filter, uint64_t epoch_ns)
    : filter_(std::move(filter)), epoch_ns_(epoch_ns), plan_(&plan) {
    changed(plan);
}

void LiveText::changed(const plan::Plan& plan) {
    plan_ = &plan;
    names_.clear();
    for (const event::EmitClause& clause : event::clauses(plan)) names_.push_back(names_of(clause));
}

LiveText::Names LiveText::names_of(const event::EmitClause& clause) const {
    Names names;
    std::string type;
    if (const auto* span = std::get_if<plan::SpanEmit>(&clause.emit->what)) {
        names.what = type = span->type;
    } else {
        const auto& event = std::get<plan::EventEmit>(clause.emit->what);
        names.what = type = event.type;
        if (!event.name.empty()) names.what += "." + event.name;
    }
    names.what += " " + clause.probe->function;
    for (const plan::NamedField& field : clause.fields()) names.fields.push_back(field.name);
    names.is_wanted =
        filter_.types.empty() || std::ranges::any_of(filter_.types, [&](const std::string& one) {
            return glob_match(one, type);
        });
    return names;
}

// "12:00:00.005000 python3 70   2.00 ms memory.alloc cuMemAlloc(size=4096)"
std::string LiveText::line(const Open& call, std::string_view took) const {
    const auto at = call.time_ns + epoch_ns_;
    const auto second = static_cast<std::time_t>(at / kSecond);
    return on_terminal(fmt::format("{:%H:%M:%S}.{:06} {} {} {}({})", fmt::localtime(second),
                                   at % kSecond / 1000, call.thread,
                                   sink::right_aligned(took, kTookWidth), call.what, call.values));
}

std::string LiveText::event(const event::Event& event) {
    const auto id = static_cast<size_t>(event.clause);
    if (id >= names_.size()) changed(*plan_);
    const Names& names = names_[id];
    if (!names.is_wanted) return {};
    Open call;
    call.time_ns = event.time_ns;
    call.thread =
        sink::padded(sink::thread_text(escaped(event.comm), event.pid, event.tid), kThreadWidth);
    call.what = names.what;
    if (event.phase == event::Phase::end && event.begin) {
        if (auto begun = open_.extract(*event.begin)) call = std::move(begun.mapped());
    }
    for (const event::NamedValue& one : event.values) {
        if (!call.values.empty()) call.values += ", ";
        call.values += names.fields[one.field] + "=" + text_of(one.value);
    }
    if (event.phase == event::Phase::begin) {
        open_[event.id] = std::move(call);
        if (open_.size() > kMostOpen) open_.erase(open_.begin());
        return {};
    }
    const bool has_end = event.phase != event::Phase::instant;
    const bool is_known = has_end && event.has_duration;
    if ((is_known ? event.duration_ns : 0) < filter_.min_ns) return {};
    std::string text = line(call, is_known  ? sink::short_duration(event.duration_ns)
                                  : has_end ? "?"
                                            : "");
    if (event.ret) text += " = " + on_terminal(text_of(*event.ret));
    return text + (event.goes_on ? " <unfinished>\n" : "\n");
}

std::string LiveText::lost(const event::Loss& loss) {
    return fmt::format("--- {} lost: the event buffer of CPU {} was full ---\n",
                       sink::plural(loss.count, "event"), loss.cpu);
}

std::vector<std::string> LiveText::open_since(uint64_t time_ns) {
    std::vector<std::string> lines;
    for (auto& [id, call] : open_) {
        if (call.time_ns > time_ns || call.has_line) continue;
        call.has_line = true;
        lines.push_back(line(call, "") + " <unfinished>\n");
    }
    return lines;
}

}  // namespace mlbcc::terminal
