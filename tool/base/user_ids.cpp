#include "base/user_ids.h"

#include <grp.h>
#include <unistd.h>

#include <algorithm>

#include "base/fields.h"

namespace mlbcc {
namespace {

constexpr int kMaxGroups = 65536;  // NGROUPS_MAX

}  // namespace

std::optional<uint32_t> to_id(std::string_view text) {
    const std::optional<uint32_t> id = to_number<uint32_t>(text);
    return id == static_cast<uint32_t>(-1) ? std::nullopt : id;
}

std::vector<gid_t> own_groups() {
    std::vector<gid_t> groups(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
    const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
    groups.resize(static_cast<size_t>(std::max(0, count)));
    return groups;
}

std::vector<gid_t> groups_of_user(const std::string& name, gid_t group) {
    std::vector<gid_t> groups(32);
    auto count = static_cast<int>(groups.size());
    if (::getgrouplist(name.c_str(), group, groups.data(), &count) < 0) {
        groups.resize(static_cast<size_t>(std::clamp(count, 1, kMaxGroups)));
        count = static_cast<int>(groups.size());
        if (::getgrouplist(name.c_str(), group, groups.data(), &count) < 0) count = 0;
    }
    groups.resize(static_cast<size_t>(std::max(count, 0)));
    return groups;
}

}  // namespace mlbcc
