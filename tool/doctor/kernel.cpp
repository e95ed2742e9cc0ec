#include <linux/capability.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "doctor/repairs.h"
#include "doctor/rows.h"

namespace mlbcc::doctor::checks {
namespace {

bool is_refused(int code) {
    return code == EPERM || code == EACCES;
}

enum class Need { none, helps, needed };  // to these rules

struct Wanted {
    Need need = Need::none;
    const char* without = "";  // what a trace does where it is not needed
    const char* missing = "";  // why a kernel has none, where it refuses nothing
    const char* repair = "";   // of that
};

std::string joined(std::string first, const std::string& second) {
    if (!first.empty() && !second.empty()) first += "; ";
    return first + second;
}

// An ability of the kernel that was tried.
Verdicts tried(const Facts& found, const bpf::Attempt& attempt, const Wanted& wanted) {
    if (attempt.works) return {ok("works")};
    const bool refused = is_refused(attempt.code);
    const char* word = refused ? "refused" : "none";
    if (wanted.need == Need::none) return {ok(fmt::format("{}; {}", word, wanted.without))};
    // Where bpf(2) is refused as such, its row says why.
    if (!found.abilities.map.works) return {{State::note, "not tried: bpf(2) is refused", "", ""}};
    const bool needed = wanted.need == Need::needed;
    const State state = needed ? State::fault : State::note;
    Cause cause{wanted.missing, needed ? wanted.repair : ""};
    if (refused) cause = cause_of_refusal(found, attempt.code);
    return {{state, word, joined(std::move(cause.why), needed ? "" : wanted.without),
             std::move(cause.repair)}};
}

// Of functions of the kernel: whether the rules want any, and need this way to them.
Need kernel_use(const Facts& found, bool other_way) {
    if (!found.rules.kernel_functions) return Need::none;
    return found.rules.needs_kernel_functions && !other_way ? Need::needed : Need::helps;
}

constexpr const char* kNoKprobes = "this kernel was built without kprobes, or has no such links";

}  // namespace

Verdicts kernel(const Facts& found) {
    std::string text = fmt::format("Linux {} {}", found.release, found.architecture);
    const kernel::KernelRelease release = kernel::parse_release(found.release);
    if (release < kernel::kOldestRelease)
        return {{State::note, std::move(text), "mlbcc is made for Linux 5.15 and later", ""}};
    if (!(kernel::kNewestTried < release)) return {ok(std::move(text))};
    return {{State::note, std::move(text),
             fmt::format("newer than any that mlbcc was tested on: the last is {}.{}",
                         kernel::kNewestTried.major, kernel::kNewestTried.minor),
             ""}};
}

// A program that is preempted lets another thread of the same CPU into the same probe.
Verdicts preemption(const Facts& found) {
    const kernel::Preemption& how = found.preemption;
    const std::string text = how.how.empty() ? "chosen at boot; it cannot be read here" : how.how;
    if (!how.possible) return {ok(text)};
    const std::string held = text + "; programs of probes are protected from it";
    if (!found.preempts_points) return {ok(held)};
    if (found.tracefs_readable) return {ok(held + ", system calls are followed by perf events")};
    return {{State::note, text,
             "without tracefs, system calls are missing where a thread was preempted in a probe",
             run_with(found, "-v /sys/kernel/tracing:/sys/kernel/tracing",
                      "mount -t tracefs tracefs /sys/kernel/tracing")}};
}

Verdicts bpf(const Facts& found) {
    const bpf::Attempt& map = found.abilities.map;
    const bpf::Attempt& failed = map.works ? found.abilities.program : map;
    if (failed.works) return {ok("works")};
    // Their own rows are the faults.
    if (seccomp_refuses(found) || (is_refused(failed.code) && rights_are_missing(found))) {
        const char* who = rights_are_missing(found) ? "capabilities" : "seccomp";
        return {{State::note, "refused", fmt::format("see {}", who), ""}};
    }
    Cause cause = cause_of_refusal(found, failed.code);
    return {{State::fault, "refused", std::move(cause.why), std::move(cause.repair)}};
}

Verdicts ring_buffer(const Facts& found) {
    return tried(found, found.abilities.ring_buffer,
                 {Need::needed, "", "events travel in ring buffers, which Linux has had since 5.8",
                  "boot Linux 5.15 or later"});
}

Verdicts kernel_memory(const Facts& found) {
    return tried(found, found.abilities.kernel_memory,
                 {found.rules.works ? Need::none : Need::needed, "these rules do not need it",
                  "programs may not read it"});
}

Verdicts cookies(const Facts& found) {
    const bool any = found.rules.functions || found.rules.kernel_functions;
    return tried(found, found.abilities.cookies,
                 {any ? Need::needed : Need::none, "these rules probe no functions",
                  "probe cookies need Linux 5.15", "boot Linux 5.15 or later"});
}

Verdicts uprobe(const Facts& found) {
    const bpf::Abilities& can = found.abilities;
    if (!found.rules.functions)
        return tried(found, can.uprobe, {Need::none, "these rules probe no functions"});
    const bool other = can.uprobe_multi.works || can.uprobe_session.works;
    if (other) return tried(found, can.uprobe, {Need::none, "functions are attached another way"});
    const Wanted wanted{Need::needed, "", "this kernel was built without uprobes",
                        "boot a kernel with CONFIG_UPROBES"};
    Verdicts verdicts = tried(found, can.uprobe, wanted);
    const bool rights = is_refused(can.uprobe.code) && found.abilities.map.works &&
                        !found.rights.capabilities.has(CAP_SYS_ADMIN);
    if (rights) {
        verdicts.front().why = "CAP_SYS_ADMIN is missing, which perf events ask for (Linux 6.16)";
        verdicts.front().repair =
            run_with(found, "--cap-add SYS_ADMIN", "give the process CAP_SYS_ADMIN");
    }
    return verdicts;
}

Verdicts uprobe_multi(const Facts& found) {
    if (!found.rules.functions)
        return tried(found, found.abilities.uprobe_multi,
                     {Need::none, "these rules probe no functions"});
    return tried(found, found.abilities.uprobe_multi,
                 {Need::helps,
                  "functions are attached one by one, and the end of a trace takes 0.1 s for each",
                  "Linux has had it since 6.6"});
}

Verdicts uprobe_session(const Facts& found) {
    if (found.abilities.uprobe_session.works && found.btf)
        return {{State::note, "works, but is not used", "it needs the kernel's BTF, too", ""}};
    return tried(found, found.abilities.uprobe_session,
                 {Need::none, "calls are paired with their returns in a map"});
}

Verdicts ends_by_ret(const Facts& found) {
    if (found.architecture != "x86_64") return {ok("emulated by the kernel")};
    if (found.abilities.registers.works) return {ok("done by the probes' programs")};
    return {ok("single-stepped, which costs more than a return probe")};
}

constexpr const char* kNoKernelFunctions = "these rules probe no functions of the kernel";

Verdicts kprobe(const Facts& found) {
    const Need need = kernel_use(found, found.abilities.kprobe_multi.works);
    return tried(found, found.abilities.kprobe,
                 {need,
                  need == Need::none ? kNoKernelFunctions : "they are left out, or attached in one",
                  kNoKprobes, "boot a kernel with CONFIG_KPROBES"});
}

Verdicts kprobe_multi(const Facts& found) {
    const Need need = kernel_use(found, true);
    return tried(found, found.abilities.kprobe_multi,
                 {need, need == Need::none ? kNoKernelFunctions : "they are attached one by one",
                  kNoKprobes});
}

Verdicts kprobe_session(const Facts& found) {
    return tried(found, found.abilities.kprobe_session,
                 {Need::none, found.rules.kernel_functions
                                  ? "calls are paired with their returns in a map"
                                  : kNoKernelFunctions});
}

Verdicts raw_tracepoint(const Facts& found) {
    return tried(found, found.abilities.raw_tracepoint,
                 {Need::needed, "", "the processes of a trace are followed by tracepoints",
                  "boot a kernel with CONFIG_BPF_EVENTS"});
}

Verdicts perf_events(const Facts& found) {
    const bpf::Attempt& attempt = found.abilities.perf_events;
    if (attempt.works) return {ok("work")};
    Cause cause = cause_of_refusal(found, attempt.code);
    if (!found.rules.stacks) return {ok("refused; these rules take no stacks")};
    const bool fault = !rights_are_missing(found);
    return {{fault ? State::fault : State::note, "refused", std::move(cause.why),
             std::move(cause.repair)}};
}

}  // namespace mlbcc::doctor::checks
