// Members of JSON objects, for the records of a trace: a name and a value of one of the tracer's
// types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "rules/rules.h"
#include "sink/json.h"
#include "sink/sink.h"

namespace mlbcc::sink {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

// RapidJSON has no form for bytes that are not UTF-8, nor for our large integers: ours is put in.
inline void raw(Writer& json, std::string_view text,
                rapidjson::Type type = rapidjson::kStringType) {
    json.RawValue(text.data(), text.size(), type);
}
inline void text(Writer& json, std::string_view value) {
    raw(json, quoted(value));
}
inline void number(Writer& json, uint64_t value) {
    Buffer out(32);
    write_unsigned(out, value);
    raw(json, out.view(), rapidjson::kNumberType);
}
inline void signed_number(Writer& json, int64_t value) {
    Buffer out(32);
    write_signed(out, value);
    raw(json, out.view(), rapidjson::kNumberType);
}
inline void number(Writer& json, uint64_t bits, bool is_signed) {
    is_signed ? signed_number(json, static_cast<int64_t>(bits)) : number(json, bits);
}
inline void member(Writer& json, const char* name, std::string_view value) {
    json.Key(name);
    text(json, value);
}
inline void member(Writer& json, const char* name, uint64_t value) {
    json.Key(name);
    number(json, value);
}
inline void member(Writer& json, const char* name, const std::vector<std::string>& values) {
    json.Key(name);
    json.StartArray();
    for (const std::string& value : values) text(json, value);
    json.EndArray();
}

inline void unit_value(Writer& json, rules::Unit unit) {
    switch (unit) {
    case rules::Unit::none: json.Null(); break;
    case rules::Unit::nanoseconds: json.String("ns"); break;
    case rules::Unit::bytes: json.String("bytes"); break;
    }
}
}  // namespace mlbcc::sink
