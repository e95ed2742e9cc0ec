// The parts of a profile as JSON.
#pragma once

#include "sink/json_writer.h"

namespace mlbcc::profile {

using sink::JsonWriter;
using sink::member;
using sink::objects;
using sink::write;

struct Profile;
struct CallReport;
struct CategoryUse;
struct TimeShares;
void write_findings(JsonWriter& json, const Profile& profile);  // profile_json_findings.cpp
// profile_json_time.cpp
void write_times(JsonWriter& json, const Profile& profile);
// By category only, and of the time of threads; null where there is nothing to show.
void write_calls(JsonWriter& json, const char* name, const CallReport* calls);
void write_gpu_calls(JsonWriter& json, const CategoryUse* calls);
void write_shares(JsonWriter& json, const char* name, const TimeShares* shares);
void write_gpu(JsonWriter& json, const Profile& profile);  // profile_json_gpu.cpp
// profile_json_phases.cpp
void write_phases(JsonWriter& json, const Profile& profile);

}  // namespace mlbcc::profile
