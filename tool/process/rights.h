// What this process may do, and what the kernel is set to refuse, as plain data.
//
//   /proc/self/status  "CapEff: 000001ffffffffff", "Seccomp: 2"  ->  Rights
//   /sys/kernel/security/lockdown  "none [integrity] ..."        ->  Lockdown::integrity
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/capabilities.h"

namespace mlbcc::process {

struct Rights {
    uint32_t user = 0;          // effective
    Capabilities capabilities;  // effective
    // Capabilities of another one do not count for the kernel as a whole.
    bool first_user_namespace = true;
    bool has_seccomp_filter = false;  // of system calls
    bool may_trace() const { return missing_for_tracing(capabilities).empty(); }
};
Rights parse_rights(std::string_view status);  // of the text of /proc/self/status
Rights read_rights();

enum class Lockdown { unknown, none, integrity, confidentiality };
Lockdown parse_lockdown(std::string_view text);
std::string_view lockdown_name(Lockdown lockdown);

// Settings of the kernel and limits of the process; nullopt where they cannot be read.
struct Settings {
    Lockdown lockdown = Lockdown::unknown;
    std::optional<int> perf_event_paranoid, kptr_restrict, unprivileged_bpf_disabled;
    std::optional<uint64_t> memlock_bytes;  // nullopt: no limit
};
Settings read_settings();

}  // namespace mlbcc::process
