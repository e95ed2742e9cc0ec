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
Verdicts capabilities(const Facts& found);
Verdicts seccomp(const Facts& found);
Verdicts lockdown(const Facts& found);
Verdicts perf_event_paranoid(const Facts& found);
Verdicts unprivileged_bpf(const Facts& found);
Verdicts kptr_restrict(const Facts& found);
Verdicts memlock(const Facts& found);

// What the kernel can (kernel.cpp).
Verdicts kernel(const Facts& found);
Verdicts bpf(const Facts& found);
Verdicts ring_buffer(const Facts& found);
Verdicts kernel_memory(const Facts& found);
Verdicts cookies(const Facts& found);
Verdicts uprobe(const Facts& found);
Verdicts uprobe_multi(const Facts& found);
Verdicts uprobe_session(const Facts& found);
Verdicts ends_by_ret(const Facts& found);
Verdicts kprobe(const Facts& found);
Verdicts kprobe_multi(const Facts& found);
Verdicts kprobe_session(const Facts& found);
Verdicts preemption(const Facts& found);
Verdicts raw_tracepoint(const Facts& found);
Verdicts perf_events(const Facts& found);

// Where it runs, and what is there (place.cpp).
Verdicts btf(const Facts& found);
Verdicts headers(const Facts& found);
Verdicts tracefs(const Facts& found);
Verdicts container(const Facts& found);
Verdicts cgroup(const Facts& found);
Verdicts pid_namespace(const Facts& found);
Verdicts processes(const Facts& found);
Verdicts gpu_driver(const Facts& found);
Verdicts gpus(const Facts& found);
Verdicts libraries(const Facts& found);
Verdicts compiler(const Facts& found);
Verdicts folders(const Facts& found);
Verdicts event_cost(const Facts& found);
Verdicts rules(const Facts& found);

}  // namespace mlbcc::doctor::checks
