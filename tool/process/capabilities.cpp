#include "process/capabilities.h"

#include <fmt/format.h>
#include <linux/capability.h>

#include <array>
#include <string_view>
#include <vector>

namespace mlbcc::process {

namespace {

// By number.
constexpr std::array<std::string_view, 41> kNames = {"CHOWN",
                                                     "DAC_OVERRIDE",
                                                     "DAC_READ_SEARCH",
                                                     "FOWNER",
                                                     "FSETID",
                                                     "KILL",
                                                     "SETGID",
                                                     "SETUID",
                                                     "SETPCAP",
                                                     "LINUX_IMMUTABLE",
                                                     "NET_BIND_SERVICE",
                                                     "NET_BROADCAST",
                                                     "NET_ADMIN",
                                                     "NET_RAW",
                                                     "IPC_LOCK",
                                                     "IPC_OWNER",
                                                     "SYS_MODULE",
                                                     "SYS_RAWIO",
                                                     "SYS_CHROOT",
                                                     "SYS_PTRACE",
                                                     "SYS_PACCT",
                                                     "SYS_ADMIN",
                                                     "SYS_BOOT",
                                                     "SYS_NICE",
                                                     "SYS_RESOURCE",
                                                     "SYS_TIME",
                                                     "SYS_TTY_CONFIG",
                                                     "MKNOD",
                                                     "LEASE",
                                                     "AUDIT_WRITE",
                                                     "AUDIT_CONTROL",
                                                     "SETFCAP",
                                                     "MAC_OVERRIDE",
                                                     "MAC_ADMIN",
                                                     "SYSLOG",
                                                     "WAKE_ALARM",
                                                     "BLOCK_SUSPEND",
                                                     "AUDIT_READ",
                                                     "PERFMON",
                                                     "BPF",
                                                     "CHECKPOINT_RESTORE"};
static_assert(kNames[CAP_SYS_ADMIN] == "SYS_ADMIN" && !kNames[CAP_CHECKPOINT_RESTORE].empty());

std::vector<std::string> short_names(Capabilities capabilities) {
    std::vector<std::string> all;
    for (int number = 0; number < 64; ++number) {
        if (!capabilities.has(number)) continue;
        const auto at = static_cast<size_t>(number);
        all.push_back(at < kNames.size() ? std::string(kNames[at]) : fmt::to_string(number));
    }
    return all;
}

}  // namespace

std::string names(Capabilities capabilities) {
    std::string text;
    const std::vector<std::string> all = short_names(capabilities);
    for (size_t i = 0; i < all.size(); ++i) {
        if (i > 0) text += i + 1 == all.size() ? " and " : ", ";
        text += "CAP_" + all[i];
    }
    return text;
}

std::string container_flags(Capabilities capabilities) {
    std::string text;
    for (const std::string& name : short_names(capabilities)) {
        text += (text.empty() ? "--cap-add " : " --cap-add ") + name;
    }
    return text;
}

Capabilities missing_for_tracing(Capabilities own) {
    if (own.has(CAP_SYS_ADMIN)) return {};
    return Capabilities{CAP_BPF, CAP_PERFMON}.without(own);
}

}  // namespace mlbcc::process
