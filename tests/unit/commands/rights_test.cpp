// What is missing for tracing is named, with the flag of a container that gives it.
#include "commands/rights.h"

#include <gtest/gtest.h>
#include <linux/capability.h>

#include <cerrno>

namespace mlbcc::commands {
namespace {

struct Standing : process::Rights {
    bpf::SystemCalls calls{EBADF, 0};
};

Standing standing(Capabilities capabilities) {
    Standing made;
    made.capabilities = capabilities;
    return made;
}

constexpr auto kNothing = "";
std::string said(const Standing& standing) {
    auto error = why_not_trace(standing, standing.calls);
    return error ? error->message() + " | " + error->help : kNothing;
}

TEST(WhyNotTrace, NothingWhereTheTwoCapabilitiesAre) {
    EXPECT_EQ(said(standing({CAP_BPF, CAP_PERFMON})), kNothing);
    EXPECT_EQ(said(standing({CAP_SYS_ADMIN})), kNothing);
}

TEST(WhyNotTrace, NamesWhatIsMissing) {
    EXPECT_EQ(said(standing({CAP_BPF})),
              "tracing needs CAP_BPF and CAP_PERFMON; missing: CAP_PERFMON | start the container "
              "with --cap-add PERFMON (docs/docker.md)");
    EXPECT_EQ(said(standing({CAP_KILL})),
              "tracing needs CAP_BPF and CAP_PERFMON; missing: CAP_PERFMON and CAP_BPF | start the "
              "container with --cap-add PERFMON --cap-add BPF (docs/docker.md)");
}

TEST(WhyNotTrace, SendsAUserToSudo) {
    Standing user = standing({});
    user.user = 1000;
    EXPECT_EQ(said(user), "tracing needs CAP_BPF and CAP_PERFMON; missing: CAP_PERFMON and CAP_BPF "
                          "| run with sudo; the command itself then still runs as you");
}

TEST(WhyNotTrace, NoCapabilityCountsInAnotherUserNamespace) {
    Standing rootless = standing({CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN});
    rootless.first_user_namespace = false;
    EXPECT_EQ(said(rootless),
              "this process is in a user namespace of its own, where no capability lets it trace | "
              "start the container as root, neither rootless nor with userns-remap "
              "(docs/docker.md)");
}

TEST(WhyNotTrace, AFilterIsNamedWithTheCallThatItRefuses) {
    Standing filtered = standing({CAP_BPF, CAP_PERFMON});
    filtered.has_seccomp_filter = true;
    EXPECT_EQ(said(filtered), kNothing);
    const std::string help =
        " | start the container with --security-opt seccomp=unconfined, or by an engine whose own "
        "filter goes by capabilities, as Docker's does from 23 on (docs/docker.md)";
    filtered.calls = {EPERM, EPERM};
    EXPECT_EQ(said(filtered),
              "a seccomp filter refuses the system call bpf, although CAP_BPF is there" + help);
    filtered.calls = {EBADF, ENOSYS};
    EXPECT_EQ(said(filtered), "a seccomp filter refuses the system call perf_event_open, although "
                              "CAP_PERFMON is there" +
                                  help);
}

}  // namespace
}  // namespace mlbcc::commands
