#include "base/as_caller.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace mlbcc {
namespace {

constexpr auto kNobody = static_cast<uid_t>(-1);  // of setfsuid(): tell only
constexpr uint64_t kOfFiles = 1ULL << CAP_CHOWN | 1ULL << CAP_DAC_OVERRIDE |
                              1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_FOWNER |
                              1ULL << CAP_FSETID | 1ULL << CAP_MKNOD | 1ULL << CAP_LINUX_IMMUTABLE |
                              1ULL << CAP_MAC_OVERRIDE;

struct Rights {
    uid_t user = 0;
    gid_t group = 0;
    std::vector<gid_t> groups;
};

std::optional<uint32_t> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    uint32_t number = 0;
    const std::string_view digits = text;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
    return is_whole ? std::optional(number) : std::nullopt;
}

std::vector<gid_t> own_groups() {
    std::vector<gid_t> groups(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
    const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
    groups.resize(static_cast<size_t>(std::max(0, count)));
    return groups;
}

std::vector<gid_t> groups_of(uid_t user, gid_t group) {
    const passwd* entry = ::getpwuid(user);
    if (entry == nullptr) return {group};
    std::vector<gid_t> groups(64);
    for (int tries = 0; tries < 2; ++tries) {
        auto count = static_cast<int>(groups.size());
        const int done = ::getgrouplist(entry->pw_name, group, groups.data(), &count);
        groups.resize(static_cast<size_t>(std::max(count, 1)));
        if (done >= 0) return groups;
    }
    return {group};
}

// The caller's own, of a set-user-ID program; of who called sudo, from the user database.
Rights rights_of(uid_t caller) {
    if (::getuid() == caller) return {caller, ::getgid(), own_groups()};
    const passwd* entry = ::getpwuid(caller);
    const gid_t known = entry != nullptr ? entry->pw_gid : static_cast<gid_t>(caller);
    const gid_t group = number_in("SUDO_GID").value_or(known);
    return {caller, group, groups_of(caller, group)};
}

struct Capabilities {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> halves{};

    bool read() { return ::syscall(SYS_capget, &header, halves.data()) == 0; }
    uint64_t effective() const { return halves[0].effective | uint64_t{halves[1].effective} << 32; }
    bool use(uint64_t bits) {
        for (size_t i = 0; i < halves.size(); ++i)
            halves[i].effective = static_cast<uint32_t>(bits >> 32 * i) & halves[i].permitted;
        return ::syscall(SYS_capset, &header, halves.data()) == 0;
    }
};

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

Result<void> take(const Rights& rights) {
    const KeepsDumpable keeps;
    if (static_cast<uid_t>(::setfsuid(kNobody)) == rights.user &&
        static_cast<gid_t>(::setfsgid(kNobody)) == rights.group)
        return {};
    if (own_groups() != rights.groups && !set_groups(rights.groups))
        return system_error("cannot take the groups of the caller");
    ::setfsgid(rights.group);
    ::setfsuid(rights.user);
    if (static_cast<uid_t>(::setfsuid(kNobody)) == rights.user) return {};
    return Error{fmt::format("cannot open files as user {}, who called", rights.user), EPERM, {}};
}

}  // namespace

std::optional<uid_t> exceeded_caller(uid_t real, uid_t effective, bool has_file_rights,
                                     const std::string& sudo_uid) {
    if (real != effective || has_file_rights) return real;
    uid_t caller = 0;
    const auto [end, error] =
        std::from_chars(sudo_uid.data(), sudo_uid.data() + sudo_uid.size(), caller);
    const bool by_sudo = error == std::errc() && end == sudo_uid.data() + sudo_uid.size();
    if (effective != 0 || !by_sudo || caller == 0) return std::nullopt;
    return caller;
}

std::optional<uid_t> exceeded_caller() {
    const char* sudo_uid = std::getenv("SUDO_UID");
    return exceeded_caller(::getuid(), ::geteuid(), ::getauxval(AT_SECURE) != 0,
                           sudo_uid == nullptr ? "" : sudo_uid);
}

Result<AsCaller> AsCaller::begin() {
    AsCaller made;
    const std::optional<uid_t> caller = exceeded_caller();
    if (!caller) return made;
    Capabilities own;
    if (!own.read()) return system_error("cannot read this process's capabilities");
    const Before before{static_cast<uid_t>(::setfsuid(kNobody)),
                        static_cast<gid_t>(::setfsgid(kNobody)), own_groups(), own.effective()};
    auto done = take(rights_of(*caller));
    if (done && !own.use(before.capabilities & ~kOfFiles))
        done = system_error("cannot set capabilities aside");
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
    Capabilities own;
    if (own.read()) (void)own.use(before.capabilities);
}

Result<void> stay_as_caller() {
    const std::optional<uid_t> caller = exceeded_caller();
    return caller ? take(rights_of(*caller)) : Result<void>();
}

}  // namespace mlbcc
