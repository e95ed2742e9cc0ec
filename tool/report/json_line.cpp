#include "report/json_line.h"

#include <charconv>
#include <cmath>

namespace mlbcc::report {
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

uint64_t nanoseconds_of(const Json& object, const char* name, double factor) {
    constexpr double kLargest = 9e18;
    double value = number_of(object, name) * factor;
    if (!(value > 0)) return 0;
    return static_cast<uint64_t>(std::llround(std::min(value, kLargest)));
}

}  // namespace mlbcc::report
