#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "trace/doctor_repairs.h"
#include "trace/doctor_rows.h"

namespace mlbcc::trace::checks {
namespace {

constexpr int kOldest[] = {5, 15};  // major, minor

// "6.18.44" is not older than 5.15.
bool is_old(const std::string& release) {
    char* end = nullptr;
    const long major = std::strtol(release.c_str(), &end, 10);
    const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
    return major < kOldest[0] || (major == kOldest[0] && minor < kOldest[1]);
}

bool is_refused(int code) {
    return code == EPERM || code == EACCES;
}

struct Wanted {
    bool needed = false;       // by these rules
    const char* without = "";  // what a trace does without it
    const char* missing = "";  // why a kernel has none, where it refuses nothing
    const char* repair = "";   // of that
};

// An ability of the kernel that was tried.
Verdicts tried(const Findings& found, const bpf::Attempt& attempt, const Wanted& wanted) {
    if (attempt.works) return {ok("works")};
    // Where bpf(2) is refused as such, its row says why.
    if (!found.abilities.map.works) return {{State::note, "not tried: bpf(2) is refused", "", ""}};
    const State state = wanted.needed ? State::fault : State::note;
    const std::string tail = wanted.needed ? "" : wanted.without;
    auto with_tail = [&](std::string why) {
        if (!tail.empty()) why += (why.empty() ? "" : "; ") + tail;
        return why;
    };
    if (is_refused(attempt.code)) {
        Cause cause = cause_of_refusal(found, attempt.code);
        return {{state, "refused", with_tail(std::move(cause.why)), std::move(cause.repair)}};
    }
    return {
        {state, "none", with_tail(wanted.missing), wanted.needed ? wanted.repair : std::string()}};
}

constexpr const char* kNoKprobes = "this kernel was built without kprobes, or has no such links";

}  // namespace

Verdicts kernel(const Findings& found) {
    std::string text = fmt::format("Linux {} {}", found.release, found.architecture);
    if (!is_old(found.release)) return {ok(std::move(text))};
    return {{State::note, std::move(text), "mlbcc is made for Linux 5.15 and later", ""}};
}

Verdicts bpf(const Findings& found) {
    const bpf::Attempt& map = found.abilities.map;
    const bpf::Attempt& failed = map.works ? found.abilities.program : map;
    if (failed.works) return {ok("works")};
    // Their own rows are the faults.
    if (is_refused(failed.code) && (rights_are_missing(found) || seccomp_refuses(found))) {
        const char* who = rights_are_missing(found) ? "capabilities" : "seccomp";
        return {{State::note, "refused", fmt::format("see {}", who), ""}};
    }
    Cause cause = cause_of_refusal(found, failed.code);
    return {{State::fault, "refused", std::move(cause.why), std::move(cause.repair)}};
}

Verdicts ring_buffer(const Findings& found) {
    return tried(found, found.abilities.ring_buffer,
                 {true, "", "events travel in ring buffers, which Linux has since 5.8",
                  "boot Linux 5.15 or later"});
}

Verdicts stack_map(const Findings& found) {
    return tried(found, found.abilities.stack_map,
                 {false, "mlbcc unwinds stacks itself", "the kernel was built without them", ""});
}

Verdicts kernel_memory(const Findings& found) {
    return tried(found, found.abilities.kernel_memory,
                 {!found.rules.works, "these rules read none", "programs may not read it", ""});
}

Verdicts cookies(const Findings& found) {
    return tried(
        found, found.abilities.cookies,
        {found.rules.functions || found.rules.kernel_functions, "these rules probe no functions",
         "programs are told which probe was hit since Linux 5.15", "boot Linux 5.15 or later"});
}

Verdicts uprobe(const Findings& found) {
    const bpf::Abilities& can = found.abilities;
    const bool other = can.uprobe_multi.works || can.uprobe_session.works;
    return tried(found, can.uprobe,
                 {found.rules.functions && !other,
                  other ? "functions are attached another way" : "these rules probe no functions",
                  "this kernel was built without uprobes", "boot a kernel with CONFIG_UPROBES"});
}

Verdicts uprobe_multi(const Findings& found) {
    return tried(found, found.abilities.uprobe_multi,
                 {false,
                  "functions are attached one by one, and the end of a trace takes 0.1 s for each",
                  "Linux has it since 6.6", ""});
}

Verdicts uprobe_session(const Findings& found) {
    Verdicts verdicts = tried(
        found, found.abilities.uprobe_session,
        {false, "a call that begins and ends is paired in a map", "Linux has it since 6.13", ""});
    if (!found.btf || verdicts.front().state != State::ok) return verdicts;
    return {{State::note, "works, but is not used", "it needs the kernel's BTF, too", ""}};
}

Verdicts kprobe(const Findings& found) {
    return tried(found, found.abilities.kprobe,
                 {found.rules.kernel_functions && !found.abilities.kprobe_multi.works,
                  "these rules need no functions of the kernel", kNoKprobes,
                  "boot a kernel with CONFIG_KPROBES"});
}

Verdicts kprobe_multi(const Findings& found) {
    return tried(found, found.abilities.kprobe_multi,
                 {false, "functions of the kernel are attached one by one", kNoKprobes, ""});
}

Verdicts kprobe_session(const Findings& found) {
    return tried(found, found.abilities.kprobe_session,
                 {false, "calls in the kernel are paired in a map", kNoKprobes, ""});
}

Verdicts fentry(const Findings& found) {
    return tried(found, found.abilities.fentry,
                 {false, "mlbcc does not use it", "this kernel has none", ""});
}

Verdicts raw_tracepoint(const Findings& found) {
    return tried(found, found.abilities.raw_tracepoint,
                 {true, "", "the processes of a trace are followed by tracepoints",
                  "boot a kernel with CONFIG_BPF_EVENTS"});
}

Verdicts perf_events(const Findings& found) {
    const bpf::Attempt& attempt = found.abilities.perf_events;
    if (attempt.works) return {ok("work")};
    Cause cause = cause_of_refusal(found, attempt.code);
    const bool fault = found.rules.stacks && !rights_are_missing(found);
    if (!found.rules.stacks) cause.why += "; these rules take no stacks";
    return {{fault ? State::fault : State::note, "refused", std::move(cause.why),
             std::move(cause.repair)}};
}

}  // namespace mlbcc::trace::checks
