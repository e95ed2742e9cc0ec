// As whom a traced command runs: `--user NAME`, or, under sudo, the person who called sudo.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace mlbcc::process {

struct Identity {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;      // supplementary ones
    std::string name, home, shell;  // "" where the user database does not know the user
};

// Who calls the tool.
struct Caller {
    uid_t effective_uid = 0;
    std::vector<std::string> environment;  // "NAME=value"
    // Who called a set-user-ID program: another than the effective one. Nullopt: nobody.
    std::optional<Identity> real;
    static Caller current();
};

// Nullopt: the command runs as the caller does. `user` is a name or a number. Errors: no such user;
// a switch without being root, or by a set-user-ID program, whose commands run as who called it.
Result<std::optional<Identity>>
choose_identity(const Caller& caller, const std::optional<std::string>& user, bool keep_root);

// The caller's environment with HOME, USER, LOGNAME and SHELL of the identity.
std::vector<std::string> environment_of(const Caller& caller,
                                        const std::optional<Identity>& identity);

}  // namespace mlbcc::process
