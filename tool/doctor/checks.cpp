#include "doctor/checks.h"

#include <algorithm>

#include "doctor/rows.h"

namespace mlbcc::doctor {
namespace {

struct Check {
    std::string_view id;  // stable: docs/doctor.md
    const char* title;
    checks::Verdicts (*judge)(const Facts& found);
};

// One line a check, in the order in which they are shown.
constexpr Check kChecks[] = {
    {"kernel", "kernel", checks::kernel},
    {"preemption", "preemption", checks::preemption},
    {"capabilities", "capabilities", checks::capabilities},
    {"seccomp", "seccomp", checks::seccomp},
    {"lockdown", "lockdown", checks::lockdown},
    {"bpf", "bpf(2)", checks::bpf},
    {"ring_buffer", "ring buffers", checks::ring_buffer},
    {"kernel_memory", "kernel memory", checks::kernel_memory},
    {"cookies", "cookies", checks::cookies},
    {"uprobe", "uprobe", checks::uprobe},
    {"uprobe_multi", "uprobe_multi", checks::uprobe_multi},
    {"uprobe_session", "uprobe session", checks::uprobe_session},
    {"ret", "ends by `ret`", checks::ends_by_ret},
    {"kprobe", "kprobe", checks::kprobe},
    {"kprobe_multi", "kprobe_multi", checks::kprobe_multi},
    {"kprobe_session", "kprobe session", checks::kprobe_session},
    {"raw_tracepoint", "raw tracepoints", checks::raw_tracepoint},
    {"perf_events", "perf events", checks::perf_events},
    {"btf", "BTF", checks::btf},
    {"headers", "kernel headers", checks::headers},
    {"tracefs", "tracefs", checks::tracefs},
    {"perf_event_paranoid", "perf_event_paranoid", checks::perf_event_paranoid},
    {"unprivileged_bpf_disabled", "unprivileged BPF", checks::unprivileged_bpf},
    {"kptr_restrict", "kptr_restrict", checks::kptr_restrict},
    {"memlock", "locked memory", checks::memlock},
    {"container", "container", checks::container},
    {"cgroup", "cgroup", checks::cgroup},
    {"pid_namespace", "pid namespace", checks::pid_namespace},
    {"process", "process", checks::processes},
    {"nvidia", "NVIDIA's module", checks::gpu_driver},
    {"gpu", "GPUs", checks::gpus},
    {"library", "library", checks::libraries},
    {"compiler", "compiler", checks::compiler},
    {"disk", "disk", checks::folders},
    {"event_cost", "cost of an event", checks::event_cost},
    {"rules", "rules", checks::rules},
};

}  // namespace

std::vector<Row> judge(const Facts& found) {
    std::vector<Row> rows;
    for (const Check& check : kChecks) {
        for (Verdict& verdict : check.judge(found)) {
            std::string title = verdict.subject.empty() ? check.title : verdict.subject;
            rows.push_back({check.id, std::move(title), std::move(verdict)});
        }
    }
    return rows;
}

bool would_work(const std::vector<Row>& rows) {
    return std::ranges::none_of(rows,
                                [](const Row& row) { return row.verdict.state == State::fault; });
}

}  // namespace mlbcc::doctor
