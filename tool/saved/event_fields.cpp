#include "saved/event_fields.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace mlbcc::saved {
namespace {

constexpr int kDeepestList = 16;  // lists in lists: an array has 16 elements in all its dimensions

// As the JSONL sink writes it: a number, or else text. Handles in hexadecimal are numbers here.
FieldValue value_of(const event::Value& value) {
    using Kind = plan::ValueType::Kind;
    if (value.unread) return std::monostate{};
    switch (value.type->kind) {
    case Kind::signed_int:
    case Kind::unsigned_int:
    case Kind::hex:
    case Kind::floating:
    case Kind::list:
    case Kind::boolean: break;
    case Kind::enumeration:
        if (!value.text.empty()) return value.text;
        break;
    case Kind::character:
    case Kind::text:
    case Kind::comm:
    case Kind::function:
    case Kind::symbol: return value.text;
    }
    return static_cast<int64_t>(value.bits);
}

// What looks like a number may be text that does: which of the two is meant, the reader knows.
FieldValue value_of(const Json& value, int depth = 0) {
    if (value.IsBool()) return value.GetBool();
    if (value.IsInt64()) return int64_t{value.GetInt64()};
    if (value.IsUint64()) return uint64_t{value.GetUint64()};
    if (value.IsString()) return as_text(value);
    if (value.IsDouble()) return value.GetDouble();
    if (!value.IsArray() || depth == kDeepestList) return std::monostate{};
    FieldValues list;
    for (const Json& one : value.GetArray()) list.push_back(value_of(one, depth + 1));
    return list;
}

// "9007199254740993" and "0x7f00" are written as text: a double would not be exact.
int64_t number_in(std::string_view text) {
    bool is_hexadecimal = text.starts_with("0x");
    if (is_hexadecimal) text.remove_prefix(2);
    const char* end = text.data() + text.size();
    int64_t integer = 0;
    uint64_t natural = 0;
    if (std::from_chars(text.data(), end, natural, is_hexadecimal ? 16 : 10).ptr == end) {
        return static_cast<int64_t>(natural);
    }
    return std::from_chars(text.data(), end, integer).ptr == end ? integer : 0;
}

void read_clause(const plan::Emit& emit, const plan::ProbePlan& probe, EventFields& out) {
    if (const auto* span = std::get_if<plan::SpanEmit>(&emit.what)) {
        out.type = span->type;
        out.name = probe.function;
        return;
    }
    const auto& event = std::get<plan::EventEmit>(emit.what);
    out.type = event.type;
    out.name = event.name.empty() ? std::string_view(probe.function) : event.name;
}

bool read_phase(const Json& line, EventFields& out) {
    const std::string_view phase = text_of(line, "phase");
    const size_t at = std::string_view("BEXi").find(phase);
    out.phase = static_cast<event::Phase>(at);
    return phase.size() == 1 && at != std::string_view::npos;
}

std::optional<uint64_t> natural_of(const Json& line, const char* name) {
    const auto found = line.FindMember(name);
    uint64_t value = 0;
    if (found == line.MemberEnd()) return std::nullopt;
    return as_unsigned(found->value, value) ? value : 0;
}

uint32_t small_of(const Json& line, const char* name) {
    return static_cast<uint32_t>(unsigned_of(line, name));
}

void read_texts(const Json& line, const char* name, std::vector<std::string_view>& out) {
    out.clear();
    if (const Json* list = list_of(line, name)) {
        for (const Json& one : list->GetArray()) out.push_back(as_text(one));
    }
}

}  // namespace

const FieldValue* EventFields::find(std::string_view argument) const {
    auto found = std::ranges::find(arguments, argument, &Argument::name);
    return found == arguments.end() || found->value.is_null() ? nullptr : &found->value;
}

int64_t EventFields::number(std::string_view argument) const {
    const FieldValue* found = find(argument);
    if (found == nullptr) return 0;
    if (const auto* number = std::get_if<int64_t>(found)) return *number;
    if (const auto* large = std::get_if<uint64_t>(found)) return static_cast<int64_t>(*large);
    if (const auto* truth = std::get_if<bool>(found)) return *truth ? 1 : 0;
    const auto* text = std::get_if<std::string_view>(found);
    return text == nullptr ? 0 : number_in(*text);
}

std::string_view EventFields::text(std::string_view argument) const {
    const FieldValue* found = find(argument);
    const auto* text = found == nullptr ? nullptr : std::get_if<std::string_view>(found);
    return text == nullptr ? std::string_view() : *text;
}

uint64_t EventFields::natural(std::string_view argument) const {
    return static_cast<uint64_t>(std::max<int64_t>(0, number(argument)));
}

const EventFields& FieldsReader::read(const event::Event& event, uint64_t start_ns) {
    out_.id = event.id;
    out_.phase = event.phase;
    out_.begin = event.begin;
    out_.parent = event.parent;
    read_clause(*event.emit, *event.probe, out_);
    out_.comm = event.comm;
    out_.time_ns = event.time_ns < start_ns ? 0 : event.time_ns - start_ns;
    out_.duration_ns = event.duration_ns;
    out_.has_duration = event.has_duration;
    out_.goes_on = event.goes_on;
    out_.pid = event.pid;
    out_.tid = event.tid;
    out_.cpu = event.cpu;
    out_.stack.assign(event.stack.begin(), event.stack.end());
    out_.ret = event.ret ? std::optional(value_of(*event.ret)) : std::nullopt;
    out_.arguments.clear();
    for (const event::NamedValue& one : event.values)
        out_.arguments.push_back({one.name, value_of(one.value)});
    return out_;
}

bool read_event(const Json& line, EventFields& fields) {
    if (!read_phase(line, fields)) return false;
    fields.id = unsigned_of(line, "event_id");
    fields.begin = natural_of(line, "begin");
    fields.parent = natural_of(line, "parent");
    fields.time_ns = nanoseconds_of(line, "ts", 1e9);
    fields.duration_ns = nanoseconds_of(line, "duration_us", 1e3);
    const auto duration = line.FindMember("duration_us");
    fields.has_duration = duration == line.MemberEnd() || !duration->value.IsNull();
    fields.goes_on = is_true(line, "goes_on");
    fields.pid = small_of(line, "pid");
    fields.tid = small_of(line, "tid");
    fields.cpu = small_of(line, "cpu");
    fields.sample = natural_of(line, "sample").value_or(1);
    fields.comm = text_of(line, "comm");
    fields.type = text_of(line, "type");
    fields.name = text_of(line, "name");
    fields.function = text_of(line, "function");
    fields.symbol = text_of(line, "symbol");
    read_texts(line, "stack", fields.stack);
    return true;
}

void read_values(const Json& line, EventFields& fields) {
    fields.arguments.clear();
    fields.ret.reset();
    auto ret = line.FindMember("ret");
    if (ret != line.MemberEnd()) fields.ret = value_of(ret->value);
    auto values = line.FindMember("args");
    if (values == line.MemberEnd() || !values->value.IsObject()) return;
    for (const auto& one : values->value.GetObject())
        fields.arguments.push_back({as_text(one.name), value_of(one.value)});
}

const EventFields* FieldsReader::read(const Json& line) {
    if (!read_event(line, out_)) return nullptr;
    read_values(line, out_);
    return &out_;
}

std::optional<LostEvents> read_lost(const Json& line) {
    if (text_of(line, "type") != "lost" || has(line, "phase")) return std::nullopt;
    LostEvents lost;
    lost.id = unsigned_of(line, "event_id");
    lost.time_ns = nanoseconds_of(line, "ts", 1e9);
    lost.count = unsigned_of(line, "count");
    lost.cpu = small_of(line, "cpu");
    read_texts(line, "rules", lost.rules);
    return lost;
}

bool ends_process(const EventFields& one) {
    if (one.name != "exit") return false;
    return one.has("last") ? one.number("last") != 0 : one.pid == one.tid;
}

}  // namespace mlbcc::saved
