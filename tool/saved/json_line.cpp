#include "saved/json_line.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sink/json.h"

namespace mlbcc::saved {
namespace {

const Json* member(const Json& object, const char* name) {
    auto found = object.FindMember(name);
    return found == object.MemberEnd() ? nullptr : &found->value;
}

template <class T> bool from_text(const Json& value, T& out) {
    if (!value.IsString()) return false;
    std::string_view text = as_text(value);
    auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

constexpr int kDeepest = 32;

// Numbers that are text, as those above 2^53, stay so.
void write(sink::Buffer& out, const Json& value, int depth) {
    if (depth == kDeepest) return out.append("null");
    if (value.IsObject()) {
        std::string_view before = "";
        out.append('{');
        for (const auto& one : value.GetObject()) {
            out.append(before);
            before = ",";
            sink::write_text(out, as_text(one.name));
            out.append(':');
            write(out, one.value, depth + 1);
        }
        return out.append('}');
    }
    if (value.IsArray()) {
        return sink::write_array(out, value.GetArray(), [&](sink::Buffer& to, const Json& one) {
            write(to, one, depth + 1);
        });
    }
    if (value.IsString()) return sink::write_text(out, as_text(value));
    if (value.IsBool()) return out.append(value.GetBool() ? "true" : "false");
    if (value.IsUint64()) return sink::write_unsigned(out, value.GetUint64());
    if (value.IsInt64()) return sink::write_signed(out, value.GetInt64());
    out.append(value.IsDouble() ? fmt::format("{}", value.GetDouble()) : "null");
}

}  // namespace

// Iterative: a line of a million brackets must not use up the stack.
const Json* LineParser::parse(std::string_view line) {
    document_.SetNull();
    allocator_.Clear();
    document_.Parse<rapidjson::kParseIterativeFlag>(line.data(), line.size());
    return !document_.HasParseError() && document_.IsObject() ? &document_ : nullptr;
}

bool as_unsigned(const Json& value, uint64_t& out) {
    if (!value.IsUint64()) return from_text(value, out);
    out = value.GetUint64();
    return true;
}

bool as_signed(const Json& value, int64_t& out) {
    if (!value.IsInt64()) return from_text(value, out);
    out = value.GetInt64();
    return true;
}

std::string_view as_text(const Json& value) {
    if (!value.IsString()) return {};
    return {value.GetString(), value.GetStringLength()};
}

std::string json_text(const Json& value) {
    sink::Buffer out(256);
    write(out, value, 0);
    return std::string(out.view());
}

uint64_t unsigned_of(const Json& object, const char* name) {
    uint64_t out = 0;
    const Json* value = member(object, name);
    return value != nullptr && as_unsigned(*value, out) ? out : 0;
}

int64_t signed_of(const Json& object, const char* name) {
    int64_t out = 0;
    const Json* value = member(object, name);
    return value != nullptr && as_signed(*value, out) ? out : 0;
}

std::string_view text_of(const Json& object, const char* name) {
    const Json* value = member(object, name);
    return value == nullptr ? std::string_view() : as_text(*value);
}

std::vector<std::string> texts_of(const Json& object, const char* name) {
    std::vector<std::string> out;
    const Json* list = list_of(object, name);
    if (list == nullptr) return out;
    for (const Json& one : list->GetArray()) out.emplace_back(as_text(one));
    return out;
}

double number_of(const Json& object, const char* name) {
    const Json* value = member(object, name);
    return value != nullptr && value->IsNumber() ? value->GetDouble() : 0;
}

const Json* list_of(const Json& object, const char* name) {
    const Json* value = member(object, name);
    return value != nullptr && value->IsArray() ? value : nullptr;
}

bool has(const Json& object, const char* name) {
    return member(object, name) != nullptr;
}

bool is_true(const Json& object, const char* name) {
    const Json* value = member(object, name);
    return value != nullptr && value->IsTrue();
}

uint64_t nanoseconds_of(const Json& object, const char* name, double factor) {
    constexpr double kLargest = 9e18;
    double value = number_of(object, name) * factor;
    if (!(value > 0)) return 0;
    return static_cast<uint64_t>(std::llround(std::min(value, kLargest)));
}

}  // namespace mlbcc::saved
