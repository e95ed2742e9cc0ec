#include <linux/capability.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "doctor/repairs.h"
#include "doctor/rows.h"

namespace mlbcc::doctor::checks {
namespace {

struct Use {
    int capability;
    const char* what;
};

// Beside CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, which has both in it.
constexpr std::array kUseful = {
    Use{CAP_SYS_ADMIN, "mount tracefs and wait for libraries that come later"},
    Use{CAP_SYS_PTRACE, "inspect processes of other users"},
    Use{CAP_SYS_RESOURCE, "open more files than the limit, where probes attach one by one"},
    Use{CAP_SYS_NICE, "read events at real-time priority"},
};

std::string number_text(const std::optional<int>& number) {
    return number ? std::to_string(*number) : "not known";
}

}  // namespace

Verdicts capabilities(const Facts& found) {
    std::string has, lacks;
    auto add = [](std::string& list, int one) {
        list += fmt::format("{}{}", list.empty() ? "" : " ", process::names({one}));
    };
    for (const int one :
         {CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_SYS_RESOURCE, CAP_SYS_NICE}) {
        add(found.rights.capabilities.has(one) ? has : lacks, one);
    }
    std::string text = has.empty() ? "none that tracing uses" : has;
    if (rights_are_missing(found)) {
        return {{State::fault, std::move(text), "CAP_BPF and CAP_PERFMON are missing",
                 rights_repair(found)}};
    }
    std::string why;
    for (const Use& use : kUseful) {
        if (found.rights.capabilities.has(use.capability)) continue;
        why += fmt::format("{}without {} it cannot {}", why.empty() ? "" : "; ",
                           process::names({use.capability}), use.what);
    }
    if (why.empty()) return {ok(std::move(text))};
    return {{State::note, std::move(text), std::move(why), ""}};
}

Verdicts seccomp(const Facts& found) {
    if (!found.rights.has_seccomp_filter) return {ok("no filter")};
    if (!seccomp_refuses(found)) return {ok("a filter that lets bpf(2) pass")};
    Cause cause = cause_of_refusal(found, found.abilities.map.code);
    return {{State::fault, "a filter", std::move(cause.why), std::move(cause.repair)}};
}

Verdicts lockdown(const Facts& found) {
    const process::Lockdown lockdown = found.settings.lockdown;
    std::string text(process::lockdown_name(lockdown));
    if (lockdown != process::Lockdown::confidentiality) return {ok(std::move(text))};
    // Found by trying: what is locked says so.
    const bool bites = !found.abilities.kernel_memory.works && !found.rules.works;
    return {{bites ? State::fault : State::note, std::move(text),
             "the kernel is locked down: programs may not read its memory, and it gives neither "
             "kprobes nor files of tracefs",
             "boot with lockdown=integrity, or without Secure Boot"}};
}

Verdicts perf_event_paranoid(const Facts& found) {
    return {ok(number_text(found.settings.perf_event_paranoid) +
               (found.rights.may_trace() ? ", which does not bind CAP_PERFMON" : ""))};
}

Verdicts unprivileged_bpf(const Facts& found) {
    const std::optional<int> disabled = found.settings.unprivileged_bpf_disabled;
    if (!disabled) return {ok("not known")};
    return {ok(*disabled == 0 ? "allowed" : "for those with CAP_BPF only")};
}

Verdicts kptr_restrict(const Facts& found) {
    std::string text = number_text(found.settings.kptr_restrict);
    if (found.settings.kptr_restrict.value_or(0) < 2) return {ok(std::move(text))};
    return {{State::note, std::move(text),
             "the kernel hides the addresses of its functions: kernel stacks have no names",
             "sudo sysctl kernel.kptr_restrict=1"}};
}

Verdicts memlock(const Facts& found) {
    const std::optional<uint64_t> bytes = found.settings.memlock_bytes;
    if (!bytes) return {ok("no limit")};
    // Linux 5.11 and later count the memory of BPF to the cgroup.
    return {ok(fmt::format("{} KiB; maps are not counted to it", *bytes / 1024))};
}

}  // namespace mlbcc::doctor::checks
