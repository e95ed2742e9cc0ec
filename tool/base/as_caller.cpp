#include "base/as_caller.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/user_ids.h"

namespace mlbcc {
namespace {

constexpr auto kNobody = static_cast<uid_t>(-1);  // of setfsuid(): tell only
const Capabilities kOfFiles{CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER,
                            CAP_FSETID, CAP_MKNOD,        CAP_MAC_OVERRIDE,    CAP_LINUX_IMMUTABLE};

struct Rights {
    uid_t user = 0;
    gid_t group = 0;
    std::vector<gid_t> groups;
};

std::string variable(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? "" : text;
}

// The caller's own, of a set-user-ID program; of who called sudo, from the user database.
Rights rights_of(uid_t caller) {
    if (::getuid() == caller) return {caller, ::getgid(), own_groups()};
    const passwd* entry = ::getpwuid(caller);
    const gid_t known = entry != nullptr ? entry->pw_gid : static_cast<gid_t>(caller);
    const gid_t group = to_id(variable("SUDO_GID")).value_or(known);
    if (entry == nullptr) return {caller, group, {group}};
    return {caller, group, groups_of_user(entry->pw_name, group)};
}

// Of this thread: the C library would change those of all.
bool set_groups(const std::vector<gid_t>& groups) {
    return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

// A process whose file rights change loses this, which its own /proc needs.
class KeepsDumpable {
public:
    KeepsDumpable() : before_(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)) {}
    KeepsDumpable(const KeepsDumpable&) = delete;
    KeepsDumpable& operator=(const KeepsDumpable&) = delete;
    ~KeepsDumpable() {
        if (before_ == 1) ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    }

private:
    int before_;
};

// The user database is asked only where it is not done already.
Result<void> become(uid_t caller) {
    if (static_cast<uid_t>(::setfsuid(kNobody)) == caller) return {};
    const KeepsDumpable keeps;
    const Rights rights = rights_of(caller);
    if (own_groups() != rights.groups && !set_groups(rights.groups))
        return system_error("cannot take the groups of the caller");
    ::setfsgid(rights.group);
    ::setfsuid(rights.user);
    const bool is_done = static_cast<uid_t>(::setfsuid(kNobody)) == rights.user &&
                         static_cast<gid_t>(::setfsgid(kNobody)) == rights.group;
    if (is_done) return {};
    return Error{fmt::format("cannot open files as user {}, who called", rights.user), EPERM, {}};
}

}  // namespace

std::optional<uid_t> exceeded_caller(uid_t real, uid_t effective, bool has_file_rights,
                                     const std::string& sudo_uid) {
    if (real != effective || has_file_rights) return real;
    const std::optional<uint32_t> caller = to_id(sudo_uid);
    if (effective != 0 || !caller || *caller == 0) return std::nullopt;
    return caller;
}

std::optional<uid_t> exceeded_caller() {
    return exceeded_caller(::getuid(), ::geteuid(), ::getauxval(AT_SECURE) != 0,
                           variable("SUDO_UID"));
}

std::string help_for_denied() {
    const int code = errno;  // of what is being told
    const std::optional<uid_t> caller = exceeded_caller();
    if (!caller) return {};
    const passwd* entry = ::getpwuid(*caller);
    const std::string name =
        entry != nullptr ? fmt::format("`{}`", entry->pw_name) : fmt::format("user {}", *caller);
    const char* in_shell = ::getuid() == 0 ? "; in a root shell, `unset SUDO_UID` first" : "";
    errno = code;
    return fmt::format("files are opened with the rights of {}, who called{}", name, in_shell);
}

Result<AsCaller> AsCaller::begin() {
    AsCaller made;
    const std::optional<uid_t> caller = exceeded_caller();
    if (!caller) return made;
    const Before before{static_cast<uid_t>(::setfsuid(kNobody)),
                        static_cast<gid_t>(::setfsgid(kNobody)), own_groups(),
                        effective_capabilities()};
    auto done = become(*caller);
    if (done) done = use_capabilities(before.capabilities.without(kOfFiles));
    if (!done) {
        restore(before);
        return done.error();
    }
    made.before_ = before;
    return made;
}

AsCaller::AsCaller(AsCaller&& other) noexcept
    : before_(std::exchange(other.before_, std::nullopt)) {}

AsCaller::~AsCaller() {
    if (before_) restore(*before_);
}

void AsCaller::restore(const Before& before) {
    const KeepsDumpable keeps;
    ::setfsuid(before.user);
    ::setfsgid(before.group);
    if (own_groups() != before.groups) (void)set_groups(before.groups);
    (void)use_capabilities(before.capabilities);
}

Result<void> stay_as_caller() {
    const std::optional<uid_t> caller = exceeded_caller();
    return caller ? become(*caller) : Result<void>();
}

}  // namespace mlbcc
