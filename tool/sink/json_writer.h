// Values as members of JSON objects, for whatever writes a document of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include "sink/sink.h"

namespace mlbcc::sink {

using JsonWriter = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

// Text that is not UTF-8 is escaped byte by byte, as in a trace.
inline void write(JsonWriter& json, std::string_view text) {
    event::Value value;
    value.text = text;
    value.learnt = true;
    std::string quoted = json_text(value);
    json.RawValue(quoted.data(), quoted.size(), rapidjson::kStringType);
}
inline void write(JsonWriter& json, const std::string& text) {
    write(json, std::string_view(text));
}
void write(JsonWriter& json, const char* text) = delete;  // would be a bool
inline void write(JsonWriter& json, uint64_t value) {
    json.Uint64(value);
}
inline void write(JsonWriter& json, int64_t value) {
    json.Int64(value);
}
inline void write(JsonWriter& json, uint32_t value) {
    json.Uint(value);
}
inline void write(JsonWriter& json, bool value) {
    json.Bool(value);
}
inline void write(JsonWriter& json, double value) {
    json.Double(value);
}
inline void write(JsonWriter& json, const std::map<std::string, uint64_t>& values) {
    json.StartObject();
    for (const auto& [name, value] : values) {
        json.Key(name.c_str());
        json.Uint64(value);
    }
    json.EndObject();
}

// An object is what has add_members(), which says no more than its members.
template <class T>
concept Object = requires(JsonWriter& json, const T& value) {
    add_members(json, value);
};
template <Object T> void write(JsonWriter& json, const T& value) {
    json.StartObject();
    add_members(json, value);
    json.EndObject();
}

template <class T> void write(JsonWriter& json, const std::optional<T>& value) {
    value ? write(json, *value) : void(json.Null());
}

template <class T> void member(JsonWriter& json, const char* name, const T& value) {
    json.Key(name);
    write(json, value);
}
template <class T> void member(JsonWriter& json, const char* name, const std::vector<T>& values) {
    json.Key(name);
    json.StartArray();
    for (const T& value : values) write(json, value);
    json.EndArray();
}

// Of values whose members are said by `add`, as where only some of them are wanted.
template <class T, class Add>
void objects(JsonWriter& json, const char* name, const std::vector<T>& values, Add add) {
    json.Key(name);
    json.StartArray();
    for (const T& value : values) {
        json.StartObject();
        add(value);
        json.EndObject();
    }
    json.EndArray();
}

}  // namespace mlbcc::sink
