#include "saved/happening.h"

#include <algorithm>
#include <charconv>

namespace mlbcc::saved {
namespace {

// As the JSONL sink writes it: a number, or else text. Handles in hexadecimal are numbers here.
std::variant<int64_t, std::string_view> value_of(const event::Value& value) {
    using Kind = plan::ValueType::Kind;
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
std::variant<int64_t, std::string_view> value_of(const Json& value) {
    int64_t integer = 0;
    if (value.IsBool()) return int64_t{value.GetBool()};
    if (value.IsString()) return as_text(value);
    return as_signed(value, integer) ? integer : 0;
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

void read_clause(const plan::Emit& emit, const plan::ProbePlan& probe, Happening& out) {
    if (const auto* span = std::get_if<plan::SpanEmit>(&emit.what)) {
        out.type = span->type;
        out.name = probe.function;
        return;
    }
    const auto& event = std::get<plan::EventEmit>(emit.what);
    out.type = event.type;
    out.name = event.name.empty() ? std::string_view(probe.function) : event.name;
}

}  // namespace

const Happening::Argument* Happening::find(std::string_view argument) const {
    auto found = std::ranges::find(arguments, argument, &Argument::name);
    return found == arguments.end() ? nullptr : &*found;
}

int64_t Happening::number(std::string_view argument) const {
    const Argument* found = find(argument);
    if (found == nullptr) return 0;
    if (const auto* number = std::get_if<int64_t>(&found->value)) return *number;
    return number_in(std::get<std::string_view>(found->value));
}

std::string_view Happening::text(std::string_view argument) const {
    const Argument* found = find(argument);
    const auto* text = found == nullptr ? nullptr : std::get_if<std::string_view>(&found->value);
    return text == nullptr ? std::string_view() : *text;
}

uint64_t Happening::natural(std::string_view argument) const {
    return static_cast<uint64_t>(std::max<int64_t>(0, number(argument)));
}

const Happening& HappeningReader::read(const event::Event& event, uint64_t start_ns) {
    out_.arguments.clear();
    read_clause(*event.emit, *event.probe, out_);
    out_.comm = event.comm;
    out_.time_ns = event.time_ns < start_ns ? 0 : event.time_ns - start_ns;
    out_.duration_ns = event.duration_ns;
    out_.stack.assign(event.stack.begin(), event.stack.end());
    out_.pid = event.pid;
    out_.tid = event.tid;
    for (const event::NamedValue& one : event.values) {
        if (!one.value.unread) out_.arguments.push_back({one.name, value_of(one.value)});
    }
    return out_;
}

const Happening* HappeningReader::read(const Json& line) {
    if (!has(line, "phase")) return nullptr;
    out_.arguments.clear();
    out_.stack.clear();
    if (const Json* frames = list_of(line, "stack")) {
        for (const Json& frame : frames->GetArray()) out_.stack.push_back(as_text(frame));
    }
    out_.type = text_of(line, "type");
    out_.name = text_of(line, "name");
    out_.comm = text_of(line, "comm");
    out_.time_ns = nanoseconds_of(line, "ts", 1e9);
    out_.duration_ns = nanoseconds_of(line, "duration_us", 1e3);
    out_.pid = static_cast<uint32_t>(unsigned_of(line, "pid"));
    out_.tid = static_cast<uint32_t>(unsigned_of(line, "tid"));
    auto values = line.FindMember("args");
    if (values == line.MemberEnd() || !values->value.IsObject()) return &out_;
    for (const auto& one : values->value.GetObject()) {
        if (!one.value.IsNull()) {
            out_.arguments.push_back({as_text(one.name), value_of(one.value)});
        }
    }
    return &out_;
}

bool ends_process(const Happening& one) {
    if (one.name != "exit") return false;
    return one.has("last") ? one.number("last") != 0 : one.pid == one.tid;
}

}  // namespace mlbcc::saved
