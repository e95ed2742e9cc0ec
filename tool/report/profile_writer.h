// The values of a profile as members of JSON objects.
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

namespace mlbcc::report {

using ProfileWriter = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

// Text that is not UTF-8 is escaped byte by byte, as in a trace.
inline void write(ProfileWriter& json, std::string_view text) {
    event::Value value;
    value.text = text;
    value.learnt = true;
    std::string quoted = sink::json_text(value);
    json.RawValue(quoted.data(), quoted.size(), rapidjson::kStringType);
}
inline void write(ProfileWriter& json, const std::string& text) {
    write(json, std::string_view(text));
}
void write(ProfileWriter& json, const char* text) = delete;  // would be a bool
inline void write(ProfileWriter& json, uint64_t value) {
    json.Uint64(value);
}
inline void write(ProfileWriter& json, int64_t value) {
    json.Int64(value);
}
inline void write(ProfileWriter& json, uint32_t value) {
    json.Uint(value);
}
inline void write(ProfileWriter& json, bool value) {
    json.Bool(value);
}
inline void write(ProfileWriter& json, double value) {
    json.Double(value);
}
inline void write(ProfileWriter& json, const std::map<std::string, uint64_t>& values) {
    json.StartObject();
    for (const auto& [name, value] : values) {
        json.Key(name.c_str());
        json.Uint64(value);
    }
    json.EndObject();
}
template <class T> void write(ProfileWriter& json, const std::optional<T>& value) {
    value ? write(json, *value) : void(json.Null());
}

// An object is what has add_members(), which says no more than its members.
template <class T>
concept Object = requires(ProfileWriter& json, const T& value) {
    add_members(json, value);
};
template <Object T> void write(ProfileWriter& json, const T& value) {
    json.StartObject();
    add_members(json, value);
    json.EndObject();
}

template <class T> void member(ProfileWriter& json, const char* name, const T& value) {
    json.Key(name);
    write(json, value);
}
template <class T>
void member(ProfileWriter& json, const char* name, const std::vector<T>& values) {
    json.Key(name);
    json.StartArray();
    for (const T& value : values) write(json, value);
    json.EndArray();
}

// Of values whose members are said by `add`, as where only some of them are wanted.
template <class T, class Add>
void objects(ProfileWriter& json, const char* name, const std::vector<T>& values, Add add) {
    json.Key(name);
    json.StartArray();
    for (const T& value : values) {
        json.StartObject();
        add(value);
        json.EndObject();
    }
    json.EndArray();
}

struct Profile;
struct CallReport;
struct CategoryUse;
struct TimeShares;
void write_findings(ProfileWriter& json, const Profile& profile);  // profile_json_findings.cpp
// profile_json_time.cpp
void write_times(ProfileWriter& json, const Profile& profile);
// By category only, and of the time of threads; null where there is nothing to show.
void write_calls(ProfileWriter& json, const char* name, const CallReport* calls);
void write_gpu_calls(ProfileWriter& json, const CategoryUse* calls);
void write_shares(ProfileWriter& json, const char* name, const TimeShares* shares);
void write_gpu(ProfileWriter& json, const Profile& profile);  // profile_json_gpu.cpp
// profile_json_phases.cpp
void write_phases(ProfileWriter& json, const Profile& profile);

}  // namespace mlbcc::report
