// The texts of a finding's rule: sentences with fields in them, and lists of folders.
//
//   "started {path}", {path: "/bin/sh"}  ->  "started /bin/sh"
#pragma once

#include <string>
#include <string_view>

#include "saved/event_fields.h"

namespace mlbcc::profile {

// {name} is the field of that name, {name:x} a number in hexadecimal; what is no field stays.
std::string filled(std::string_view sentence, const saved::EventFields& one);
std::string value_text(const saved::FieldValue& value);

// "/a/./b/../c" -> "/a/c"; relative to `folder`. "" where that is not known, but needed.
std::string absolute(std::string_view path, std::string_view folder);

// `list`: folders and files, parted by ":", "." for `folder`, "~" for `home` where these are known;
// an entry with wildcards means the paths that match it.
bool lies_in(std::string_view path, std::string_view list, std::string_view folder,
             std::string_view home);

// `patterns` are globs, parted by ":".
bool matches_one(std::string_view text, std::string_view patterns);

}  // namespace mlbcc::profile
