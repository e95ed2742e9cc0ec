#include "doctor/repairs.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace mlbcc::doctor {

using process::ContainerKind;

std::string run_with(const Facts& found, std::string_view flag, std::string_view otherwise) {
    switch (found.container) {
    case ContainerKind::docker: return fmt::format("docker run {}", flag);
    case ContainerKind::podman: return fmt::format("podman run {}", flag);
    case ContainerKind::kubernetes:
    case ContainerKind::lxc:
    case ContainerKind::other:
    case ContainerKind::none: break;
    }
    return std::string(otherwise);
}

std::string rights_repair(const Facts& found) {
    if (found.container == ContainerKind::kubernetes)
        return "securityContext: {runAsUser: 0, capabilities: {add: [BPF, PERFMON]}}";
    if (found.rights.user != 0) {
        return run_with(found, "--user 0 --cap-add BPF --cap-add PERFMON",
                        "run it with sudo: sudo mlbcc ...");
    }
    return run_with(found, "--cap-add BPF --cap-add PERFMON",
                    "give the process CAP_BPF and CAP_PERFMON");
}

bool rights_are_missing(const Facts& found) {
    return !found.rights.may_trace();
}

bool seccomp_refuses(const Facts& found) {
    const int code = found.abilities.map.code;
    return !found.abilities.map.works && (code == EPERM || code == EACCES || code == ENOSYS) &&
           found.rights.may_trace() && found.rights.first_user_namespace &&
           found.rights.has_seccomp_filter;
}

Cause cause_of_refusal(const Facts& found, int code) {
    if (code == ENOSYS && !seccomp_refuses(found))
        return {"there is no bpf(2) in this kernel", "boot a kernel with CONFIG_BPF_SYSCALL"};
    if (code != EPERM && code != EACCES && code != ENOSYS) return {std::strerror(code), ""};
    if (rights_are_missing(found))
        return {"CAP_BPF and CAP_PERFMON are missing", rights_repair(found)};
    if (!found.rights.first_user_namespace) {
        return {
            "the capabilities are those of a user namespace, and BPF asks for the machine's own",
            "run it outside of the user namespace, not in a rootless container"};
    }
    if (found.rights.has_seccomp_filter) {
        return {"a seccomp filter refuses the system call, although the capabilities are there",
                run_with(found, "--security-opt seccomp=unconfined",
                         found.container == ContainerKind::kubernetes
                             ? "securityContext: {seccompProfile: {type: Unconfined}}"
                             : "run it without the seccomp filter that its starter set")};
    }
    if (found.settings.lockdown == process::Lockdown::confidentiality)
        return {"the kernel is locked down",
                "boot with lockdown=integrity, or without Secure Boot"};
    return {fmt::format("{}, although the capabilities are there", std::strerror(code)), ""};
}

}  // namespace mlbcc::doctor
