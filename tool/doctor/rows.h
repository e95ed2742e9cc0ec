// The checks themselves, by what they look at; checks.cpp has the table of them.
#pragma once

#include <string>
#include <vector>

#include "doctor/checks.h"

namespace mlbcc::doctor::checks {

using Verdicts = std::vector<Verdict>;

inline Verdict ok(std::string found) {
    return {State::ok, std::move(found), {}, {}};
}

// What the process may do (rights.cpp).
Verdicts capabilities(const Findings& found);
Verdicts seccomp(const Findings& found);
Verdicts lockdown(const Findings& found);
Verdicts perf_event_paranoid(const Findings& found);
Verdicts unprivileged_bpf(const Findings& found);
Verdicts kptr_restrict(const Findings& found);
Verdicts memlock(const Findings& found);

// What the kernel can (kernel.cpp).
Verdicts kernel(const Findings& found);
Verdicts bpf(const Findings& found);
Verdicts ring_buffer(const Findings& found);
Verdicts kernel_memory(const Findings& found);
Verdicts cookies(const Findings& found);
Verdicts uprobe(const Findings& found);
Verdicts uprobe_multi(const Findings& found);
Verdicts uprobe_session(const Findings& found);
Verdicts ends_by_ret(const Findings& found);
Verdicts kprobe(const Findings& found);
Verdicts kprobe_multi(const Findings& found);
Verdicts kprobe_session(const Findings& found);
Verdicts preemption(const Findings& found);
Verdicts raw_tracepoint(const Findings& found);
Verdicts perf_events(const Findings& found);

// Where it runs, and what is there (place.cpp).
Verdicts btf(const Findings& found);
Verdicts headers(const Findings& found);
Verdicts tracefs(const Findings& found);
Verdicts container(const Findings& found);
Verdicts cgroup(const Findings& found);
Verdicts pid_namespace(const Findings& found);
Verdicts processes(const Findings& found);
Verdicts gpu_driver(const Findings& found);
Verdicts gpus(const Findings& found);
Verdicts libraries(const Findings& found);
Verdicts compiler(const Findings& found);
Verdicts folders(const Findings& found);
Verdicts event_cost(const Findings& found);
Verdicts rules(const Findings& found);

}  // namespace mlbcc::doctor::checks
