// Numbers of users and groups.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc {

// "1000"; nullopt for what is no number, and for -1, which to the kernel means "as it is".
std::optional<uint32_t> to_id(std::string_view text);

std::vector<gid_t> own_groups();  // the supplementary ones of this thread
// As the user database has them, `group` among them.
std::vector<gid_t> groups_of_user(const std::string& name, gid_t group);

}  // namespace mlbcc
