#include "process/identity.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/user_ids.h"

namespace mlbcc::process {

namespace {

constexpr size_t kMaxDatabaseEntry = 1 << 20;  // bytes of text

std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
    for (const std::string& variable : environment) {
        if (variable.starts_with(name) && variable.size() > name.size() &&
            variable[name.size()] == '=') {
            return variable.substr(name.size() + 1);
        }
    }
    return {};
}

void set_value(std::vector<std::string>& environment, std::string_view name,
               const std::string& value) {
    if (value.empty()) return;
    std::erase_if(environment, [&](const std::string& variable) {
        return variable.starts_with(name) && variable.size() > name.size() &&
               variable[name.size()] == '=';
    });
    environment.push_back(fmt::format("{}={}", name, value));
}

// getpwnam_r or getpwuid_r, with as much room as the entry needs.
using Query = std::function<int(passwd*, char*, size_t, passwd**)>;
Result<std::optional<Identity>> look_up(const Query& query) {
    std::vector<char> text(1024);
    passwd entry{};
    passwd* found = nullptr;
    int code = 0;
    while ((code = query(&entry, text.data(), text.size(), &found)) == ERANGE &&
           text.size() < kMaxDatabaseEntry) {
        text.resize(text.size() * 2);
    }
    // A user that is not there is reported by any of these (getpwnam_r(3)).
    const bool is_absent =
        code == 0 || code == ENOENT || code == ESRCH || code == EBADF || code == EPERM;
    if (!is_absent) return Error{"cannot read the user database", code, {}};
    if (found == nullptr) return std::optional<Identity>();
    Identity identity;
    identity.uid = entry.pw_uid;
    identity.gid = entry.pw_gid;
    identity.name = entry.pw_name;
    identity.home = entry.pw_dir;
    identity.shell = entry.pw_shell;
    identity.groups = groups_of_user(identity.name, identity.gid);
    return std::optional(std::move(identity));
}

Result<std::optional<Identity>> look_up_uid(uid_t uid) {
    return look_up([uid](passwd* entry, char* text, size_t size, passwd** found) {
        return getpwuid_r(uid, entry, text, size, found);
    });
}

Result<std::optional<Identity>> look_up_name(const std::string& name) {
    return look_up([&name](passwd* entry, char* text, size_t size, passwd** found) {
        return getpwnam_r(name.c_str(), entry, text, size, found);
    });
}

Result<std::optional<Identity>> named_identity(const Caller& caller, const std::string& user) {
    auto found = look_up_name(user);
    if (found && !*found) {
        if (const auto uid = to_id(user)) found = look_up_uid(*uid);
    }
    if (!found) return found;
    if (!*found) return Error{fmt::format("there is no user `{}`", user), 0, {}};
    if ((*found)->uid == caller.effective_uid) return std::optional<Identity>();
    if (caller.effective_uid != 0) {
        return Error{fmt::format("only root can run a command as `{}`", user), 0, "run as root"};
    }
    return found;
}

// A user that sudo knows and the user database does not: the ids alone.
Result<std::optional<Identity>> sudo_identity(const Caller& caller) {
    const auto uid = to_id(value_of(caller.environment, "SUDO_UID"));
    const auto gid = to_id(value_of(caller.environment, "SUDO_GID"));
    if (!uid || !gid || *uid == 0) return std::optional<Identity>();
    auto found = look_up_uid(*uid);
    if (!found) return found;
    Identity identity = found->value_or(Identity{});
    identity.uid = *uid;
    identity.gid = *gid;
    if (identity.groups.empty()) identity.groups = {*gid};
    return std::optional(std::move(identity));
}

Identity real_identity() {
    Identity identity;
    if (auto found = look_up_uid(getuid()); found && *found) identity = std::move(**found);
    identity.uid = getuid();
    identity.gid = getgid();
    identity.groups = own_groups();
    return identity;
}

}  // namespace

Caller Caller::current() {
    Caller caller{geteuid(), {}, {}};
    for (char** variable = environ; variable != nullptr && *variable != nullptr; variable++) {
        caller.environment.emplace_back(*variable);
    }
    if (getuid() != caller.effective_uid) caller.real = real_identity();
    return caller;
}

Result<std::optional<Identity>>
choose_identity(const Caller& caller, const std::optional<std::string>& user, bool keep_root) {
    if (caller.real) {
        if (!user && !keep_root) return caller.real;
        return Error{"mlbcc is a set-user-ID program here: its commands run as who called it", 0,
                     "leave --user and --root out"};
    }
    if (user) return named_identity(caller, *user);
    if (caller.effective_uid != 0 || keep_root) return std::optional<Identity>();
    return sudo_identity(caller);
}

std::vector<std::string> environment_of(const Caller& caller,
                                        const std::optional<Identity>& identity) {
    std::vector<std::string> environment = caller.environment;
    if (!identity) return environment;
    set_value(environment, "HOME", identity->home);
    set_value(environment, "USER", identity->name);
    set_value(environment, "LOGNAME", identity->name);
    set_value(environment, "SHELL", identity->shell);
    return environment;
}

}  // namespace mlbcc::process
