// Where this process has more rights than whoever called it (sudo, a set-user-ID program,
// capabilities of the file), files that the caller names are opened with the caller's rights.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/capabilities.h"
#include "base/result.h"

namespace mlbcc {

// Whose rights this process exceeds; nullopt: nobody's. `sudo_uid`: text of SUDO_UID, "" where it
// is not set.
std::optional<uid_t> exceeded_caller(uid_t real, uid_t effective, bool has_file_rights,
                                     const std::string& sudo_uid);
std::optional<uid_t> exceeded_caller();  // of this process

// What can be done where the caller may not open a file; "" where that is nothing of the caller's.
std::string help_for_denied();

// While one lives, this thread opens files as the caller could (fsuid, groups), and no capability
// helps. Nothing changes where no caller's rights are exceeded. Error: they cannot be taken.
class AsCaller {
public:
    static Result<AsCaller> begin();
    AsCaller(AsCaller&& other) noexcept;
    AsCaller& operator=(AsCaller&&) = delete;
    ~AsCaller();

private:
    AsCaller() = default;
    struct Before {
        uid_t user = 0;
        gid_t group = 0;
        std::vector<gid_t> groups;
        Capabilities capabilities;
    };
    static void restore(const Before& before);
    std::optional<Before> before_;
};

// The same for good, but for the capabilities: for a process that is about to give those up.
Result<void> stay_as_caller();

}  // namespace mlbcc
