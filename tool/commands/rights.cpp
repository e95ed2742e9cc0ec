#include "commands/rights.h"

#include <cerrno>

#include <fmt/format.h>

namespace mlbcc::commands {
namespace {

bool is_refusal(int code) {
    return code == EPERM || code == EACCES || code == ENOSYS;
}

Error missing(const process::Rights& rights, Capabilities wanted) {
    const std::string container = fmt::format("start the container with {} (docs/docker.md)",
                                              process::container_flags(wanted));
    return Error{"tracing needs CAP_BPF and CAP_PERFMON; missing: " + process::names(wanted), 0,
                 rights.user == 0 ? container
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

std::optional<Error> why_not_trace(const process::Rights& rights, const bpf::SystemCalls& calls) {
    if (!rights.first_user_namespace) {
        return Error{"this process is in a user namespace of its own, where no capability lets it "
                     "trace",
                     0,
                     "start the container as root, neither rootless nor with userns-remap "
                     "(docs/docker.md)"};
    }
    const Capabilities wanted = process::missing_for_tracing(rights.capabilities);
    if (!wanted.empty()) return missing(rights, wanted);
    if (!rights.has_seccomp_filter) return std::nullopt;
    if (is_refusal(calls.bpf)) return filtered("bpf", "CAP_BPF");
    if (is_refusal(calls.perf_event_open)) {
        return filtered("perf_event_open", "CAP_PERFMON");
    }
    return std::nullopt;
}

}  // namespace mlbcc::commands
