// How a running trace changes its rules. The programs of both sets are in place for a while; of
// each call the first one to see it decides which of them takes it (probe_templates/runtime.bpf.c),
// so that none is taken twice and none by nobody.
#include <malloc.h>

#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "process/clock.h"
#include "session/messages.h"
#include "session/session.h"

namespace mlbcc::session {

using codegen::Control;
using codegen::kChange;
using codegen::kFunctions;
using codegen::kOthers;

void Session::attend_reload(uint64_t now_ns) {
    if (change_) {
        const auto patience = static_cast<uint64_t>(options_.reload.wait.count());
        const bool waited = now_ns - change_->since_ns >= patience || change_->held.is_full();
        if (!change_->leaving.valid()) {
            if (waited) begin_leaving();
        } else if (change_->leaving.wait_for(std::chrono::seconds(0)) ==
                   std::future_status::ready) {
            change_over();
        }
        return;
    }
    if (!reloader_.is_preparing()) {
        if (!reloader_.is_wanted(now_ns)) return;
        reloader_.begin(options_.targets.everyone ? std::vector<int>() : now_->follower.processes(),
                        [this](Generation& from, uint32_t cpu, std::span<const std::byte> record) {
                            take(from, cpu, record);
                        });
    } else if (auto prepared = reloader_.take(); prepared && prepared->generation) {
        if (auto done = join(*prepared->generation); !done) {
            tell(done.error());
            tell_note(options_.verbosity, prepared->why + ": the rules stay as they were");
        } else if (done = begin_change(std::move(*prepared)); !done) {
            failure_ = done.error();
        }
    }
}

Result<void> Session::join(Generation& coming) {
    if (auto done = watch_mappings(coming); !done) return done;
    coming.find_pythons(options_.targets.command);
    if (auto done = coming.follower.join(now_->follower); !done) return done;
    if (coming.frontend.plan.knows_pythons()) {
        for (int pid : coming.follower.processes()) coming.pythons.look_at(pid);
    }
    if (!coming.given || !now_->given) return {};
    coming.given->join(*now_->given);
    coming.take_given([] {});
    return {};
}

// For functions the new programs run first and decide, for all else the old ones; whoever comes
// second must be ready to be told before.
Result<void> Session::begin_change(Prepared prepared) {
    change_.emplace();
    change_->coming = std::move(prepared.generation);
    change_->why = std::move(prepared.why);
    change_->since_ns = process::monotonic_ns();  // nothing of the new rules is earlier
    Generation& coming = *change_->coming;
    Generation& now = *now_;
    const auto number = static_cast<uint32_t>(reloads_ + 1);
    struct Step {
        Follower& follower;
        uint32_t what;
        Control how;
    };
    for (Generation* one : {&now, &coming}) {
        if (auto done = one->follower.set(kChange, number); !done) return done;
    }
    for (const Step& step : {Step{now.follower, kFunctions, Control::leaving},
                             Step{coming.follower, kFunctions, Control::coming},
                             Step{coming.follower, kOthers, Control::coming},
                             Step{now.follower, kOthers, Control::leaving}}) {
        if (auto done = step.follower.set(step.what, step.how); !done) return done;
    }
    steps_.tell("the rules change");
    return {};
}

// All that was decided before the change has ended long ago: the new programs need not ask any
// more. What of the old ones' calls is open now is not waited for; of their waits, it is told.
void Session::begin_leaving() {
    Follower& now = now_->follower;
    Follower& coming = change_->coming->follower;
    (void)now.set(kFunctions, Control::pass);
    (void)coming.arm();
    (void)now.set(kOthers, Control::pass);
    now_->tell_going_on();
    missed_ += now_->loaded.missed();
    change_->leaving = on_a_thread([old = now_.get()] { old->detach(); });
}

void Session::change_over() {
    change_->leaving.get();
    if (mappings_) mappings_->sweep();
    now_->stream->sweep();
    add_losses(process::monotonic_ns());
    pipeline_.finish_rules();
    give(now_->sums.last(process::monotonic_ns(), pipeline_));
    Generation& coming = *change_->coming;
    const plan::Plan& plan = coming.frontend.plan;
    sink::Reload reload{.time_ns = change_->since_ns, .number = ++reloads_, .why = change_->why};
    reload.rules = coming.frontend.rule_names;
    reload.before = trace_end(End::none);
    reload.plan = &plan;
    const uint64_t id = pipeline_.take_event_id();
    outputs_.sinks().reload(reload, id);
    pipeline_.change_plan(plan);
    if (plan.takes(rules::StackKind::kernel)) kernel_names_.read(options_.verbosity);
    std::unique_ptr<Generation> old = std::exchange(now_, std::move(change_->coming));
    RulesChange change = std::move(*std::exchange(change_, std::nullopt));
    pipeline_.grow();  // by what came meanwhile
    change.held.give([&](uint32_t cpu, std::span<const std::byte> record) {
        if (!change.tells_of_process(record, false)) pipeline_.add(cpu, record);
    });
    now_->follower.forget_ended();
    if (!options_.targets.everyone) now_->cost.begin(now_->follower.processes());
    now_->looks->start(process::monotonic_ns(), false);
    now_->sums.start(change.since_ns);
    tell_refused(options_.verbosity, now_->loaded.refused, plan);
    tell_leaving(options_.verbosity, now_->loaded.leaving, plan);
    tell_note(options_.verbosity, fmt::format("{}: the rules have changed; {} traced", reload.why,
                                              sink::plural(now_->loaded.probes, "function")));
    old.reset();
    ::malloc_trim(0);
}

void Session::end_change() {
    if (!change_) return;
    if (!change_->leaving.valid()) begin_leaving();
    change_->leaving.wait();
    change_->coming->stream->sweep();
    change_over();
}

}  // namespace mlbcc::session
