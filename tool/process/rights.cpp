#include "process/rights.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

#include "base/read_file.h"
#include "base/trimmed.h"

namespace mlbcc::process {

namespace {

constexpr size_t kMaxSettingBytes = 64 << 10;
constexpr uint64_t kFirstUserNamespace = 0xEFFFFFFD;  // PROC_USER_INIT_INO, linux/proc_ns.h

std::string text_of(const std::string& path) {
    Result<std::string> text = read_file(path, kMaxSettingBytes);
    return text ? std::move(*text) : std::string();
}

// "CapEff:\t000001ffffffffff" -> "000001ffffffffff"
std::string_view field_of(std::string_view status, std::string_view name) {
    const size_t at = status.find(name);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = status.substr(at + name.size());
    return trimmed(rest.substr(0, rest.find('\n')));
}

template <class T> std::optional<T> number(std::string_view text, int base = 10) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<int> setting(const std::string& name) {
    return number<int>(trimmed(text_of("/proc/sys/kernel/" + name)));
}

bool in_first_user_namespace() {
    struct stat status;
    return stat("/proc/self/ns/user", &status) != 0 || status.st_ino == kFirstUserNamespace;
}

}  // namespace

Rights parse_rights(std::string_view status) {
    Rights rights;
    rights.capabilities =
        Capabilities(number<uint64_t>(field_of(status, "CapEff:"), 16).value_or(0));
    rights.has_seccomp_filter = field_of(status, "Seccomp:") == "2";
    return rights;
}

Rights read_rights() {
    Rights rights = parse_rights(text_of("/proc/self/status"));
    rights.user = ::geteuid();
    rights.first_user_namespace = in_first_user_namespace();
    return rights;
}

Lockdown parse_lockdown(std::string_view text) {
    if (text.find("[none]") != std::string_view::npos) return Lockdown::none;
    if (text.find("[integrity]") != std::string_view::npos) return Lockdown::integrity;
    if (text.find("[confidentiality]") != std::string_view::npos) return Lockdown::confidentiality;
    return Lockdown::unknown;
}

std::string_view lockdown_name(Lockdown lockdown) {
    switch (lockdown) {
    case Lockdown::unknown: return "not known";
    case Lockdown::none: return "none";
    case Lockdown::integrity: return "integrity";
    case Lockdown::confidentiality: return "confidentiality";
    }
    return "";
}

Settings read_settings() {
    Settings settings;
    settings.lockdown = parse_lockdown(text_of("/sys/kernel/security/lockdown"));
    settings.perf_event_paranoid = setting("perf_event_paranoid");
    settings.kptr_restrict = setting("kptr_restrict");
    settings.unprivileged_bpf_disabled = setting("unprivileged_bpf_disabled");
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        settings.memlock_bytes = limit.rlim_cur;
    }
    return settings;
}

}  // namespace mlbcc::process
