#include "commands/rights.h"

#include <unistd.h>

#include <fmt/format.h>

namespace mlbcc::commands {
namespace {

bool is_refusal(int code) {
    return code == EPERM || code == EACCES || code == ENOSYS;
}

Error missing(const Standing& standing, Capabilities wanted) {
    const std::string container = fmt::format("start the container with {} (docs/docker.md)",
                                              process::container_flags(wanted));
    return Error{"tracing needs CAP_BPF and CAP_PERFMON; missing: " + process::names(wanted), 0,
                 standing.root ? container
                               : "run with sudo; the command itself then still runs as you"};
}

Error filtered(const char* call, const char* capability) {
    return Error{
        fmt::format("a seccomp filter refuses the system call {}, although {} is there", call,
                    capability),
        0,
        "start the container with --security-opt seccomp=unconfined, or by an engine whose own "
        "filter goes by capabilities, as Docker's does from 23 on (docs/docker.md)"};
}

}  // namespace

Standing own_standing() {
    return {::geteuid() == 0, effective_capabilities(), process::in_first_user_namespace(),
            process::has_seccomp_filter(), bpf::try_system_calls()};
}

std::optional<Error> why_not_trace(const Standing& standing) {
    if (!standing.first_user_namespace) {
        return Error{"this process is in a user namespace of its own, where no capability lets it "
                     "trace",
                     0,
                     "start the container as root, neither rootless nor with userns-remap "
                     "(docs/docker.md)"};
    }
    const Capabilities wanted = process::missing_for_tracing(standing.capabilities);
    if (!wanted.empty()) return missing(standing, wanted);
    if (!standing.filtered) return std::nullopt;
    if (is_refusal(standing.calls.bpf)) return filtered("bpf", "CAP_BPF");
    if (is_refusal(standing.calls.perf_event_open)) {
        return filtered("perf_event_open", "CAP_PERFMON");
    }
    return std::nullopt;
}

}  // namespace mlbcc::commands
