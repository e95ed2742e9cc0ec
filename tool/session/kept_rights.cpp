#include "session/kept_rights.h"

#include <linux/capability.h>
#include <sched.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/as_caller.h"

namespace mlbcc::session {
namespace {

void keep(KeptRights& kept, Capabilities more, const char* why) {
    kept.capabilities = kept.capabilities | more;
    kept.why += kept.why.empty() ? why : std::string(", ") + why;
}

// CAP_SYS_ADMIN, where it is there instead of these.
Capabilities or_admin(Capabilities wanted, Capabilities own) {
    return wanted.without(own).empty() ? wanted : wanted | Capabilities{CAP_SYS_ADMIN};
}

}  // namespace

WorkToCome work_to_come(const plan::Plan& plan, bool command, bool late, codegen::AttachMode mode) {
    const bool looks = std::ranges::any_of(plan.probes, [](const plan::ProbePlan& probe) {
        return probe.kind == plan::ProbeKind::interval;
    });
    return {command, looks || plan.knows_mappings() || plan.knows_pythons(), late,
            mode == codegen::AttachMode::perf};
}

// A process may be looked into by whoever has all that it has, or CAP_SYS_PTRACE (ptrace(2)):
// without that, whatever is given up could be what the traced process has.
KeptRights rights_to_keep(const WorkToCome& work, Capabilities own) {
    KeptRights kept;
    if ((work.processes || work.late) && !own.has(CAP_SYS_PTRACE)) {
        keep(kept, own, "processes are inspected without CAP_SYS_PTRACE");
        return kept;
    }
    if (work.command) keep(kept, {CAP_KILL}, "signals for the command");
    if (work.processes || work.late) {
        keep(kept, or_admin({CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE}, own),
             "files of the traced processes");
    }
    if (work.late) {
        // For uprobes by perf events some kernels want CAP_SYS_ADMIN (Linux 6.17, and older ones
        // that have taken it over).
        Capabilities wanted = or_admin({CAP_BPF, CAP_PERFMON}, own);
        if (work.one_by_one) wanted.add(CAP_SYS_ADMIN);
        keep(kept, wanted, "functions that come later");
    }
    kept.capabilities = kept.capabilities & own;
    return kept;
}

void give_up_rights(const WorkToCome& work, const load::Steps& steps,
                    const std::function<bool()>& reads_maps,
                    const std::function<bool()>& sees_processes) {
    const Capabilities own = effective_capabilities();
    // What is written from now on is the caller's: CAP_SETUID, to say so later, is given up.
    if (auto done = stay_as_caller(); !done) steps.tell(done.error().message());
    KeptRights kept = rights_to_keep(work, own);
    (void)use_capabilities(kept.capabilities);
    if (!reads_maps()) {  // before Linux 5.19
        keep(kept, or_admin({CAP_BPF}, own) & own, "maps of this kernel");
    }
    if (!sees_processes())
        keep(kept, Capabilities{CAP_SYS_PTRACE} & own, "processes that /proc hides");
    if (auto done = keep_capabilities(kept.capabilities); !done) {
        (void)use_capabilities(own);
        return steps.tell("all capabilities are kept: " + done.error().message());
    }
    if (kept.capabilities.empty()) return steps.tell("no capability is kept");
    steps.tell(
        fmt::format("capabilities kept: {}, for {}", process::names(kept.capabilities), kept.why));
}

bool become_realtime() {
    sched_param priority{};
    priority.sched_priority = 1;  // above all normal work, below every other real-time task
    return ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) == 0;
}

}  // namespace mlbcc::session
