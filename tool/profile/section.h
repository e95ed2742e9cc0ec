// What a section of the profile has beside its report: rows of text, none where nothing is known,
// and members of JSON.
//
//   void add_rows(sink::Rows& rows, const FileReport& files);
//   void add_members(JsonWriter& json, const FileReport& files);
#pragma once

#include "sink/json_writer.h"
#include "sink/summary_text.h"

namespace mlbcc::profile {

using sink::JsonWriter;
using sink::member;
using sink::objects;

}  // namespace mlbcc::profile
