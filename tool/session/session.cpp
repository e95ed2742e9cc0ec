#include "session/session.h"

#include <poll.h>
#include <unistd.h>

#include <csignal>

#include <fmt/format.h>

#include "process/clock.h"
#include "session/kept_rights.h"
#include "session/messages.h"
#include "session/trace_info.h"
#include "session/views.h"

namespace mlbcc::session {
namespace {

constexpr int kSweepMs = 20;      // rings are read this often, whether or not they woke us
constexpr int kLazySweepMs = 50;  // where no event is shown by itself
constexpr uint64_t kFlushNs = 40'000'000;
constexpr uint64_t kCheckNs = 100'000'000;
constexpr uint64_t kEndPatienceNs = 2'000'000'000;  // for a command to end after Ctrl-C

}  // namespace

Session::Session(const TraceOptions& options, std::unique_ptr<Generation> generation,
                 const bpf::Map& threads, load::Steps& steps)
    : options_(options), steps_(steps), now_(std::move(generation)),
      pipeline_(now_->frontend.plan, *this,
                {.roots = {.epoch_ns = process::epoch_ns(), .user = user_of(options.targets)},
                 .python_names = [this](uint64_t frame) { return now_->pythons.name(frame); },
                 .kernel_names = [this](uint64_t at) { return kernel_names_.find(at); }}),
      reloader_(options, threads), outputs_(options) {}

Result<std::unique_ptr<Session>> Session::open(const TraceOptions& options,
                                               std::unique_ptr<Generation> generation,
                                               const bpf::Map& threads, load::Steps& steps) {
    std::unique_ptr<Session> made(new Session(options, std::move(generation), threads, steps));
    Result<Signals> signals = Signals::block();
    if (!signals) return signals.error();
    made->signals_.emplace(std::move(*signals));
    Generation& now = *made->now_;
    now.on_record = [session = made.get(), &now](uint32_t cpu, std::span<const std::byte> one) {
        session->take(now, cpu, one);
    };
    if (auto done = made->watch_mappings(now); !done) return done.error();
    return made;
}

Result<void> Session::open_outputs(const std::string& trace_file) {
    const Generation& now = *now_;
    start_ns_ = process::monotonic_ns();
    const sink::TraceInfo info = trace_info(options_, now.frontend, start_ns_);
    if (auto done = outputs_.open(trace_file, info, now.frontend.plan); !done) return done;
    tell_refused(options_.verbosity, now.loaded.refused, now.frontend.plan);
    tell_leaving(options_.verbosity, now.loaded.leaving, now.frontend.plan);
    return {};
}

Result<void> Session::attach() {
    if (auto done = now_->attach(); !done) return done;
    if (auto done = now_->finish_loading(); !done) return done;
    if (now_->frontend.plan.takes(rules::StackKind::kernel)) kernel_names_.read(options_.verbosity);
    now_->find_pythons(options_.targets.command);
    return {};
}

void Session::event(const event::Event& event) {
    now_->nested->event(event);
    now_->coverage.event(event);
    outputs_.event(event);
}

void Session::lost(const event::Loss& loss, uint64_t event_id) {
    outputs_.sinks().lost(loss, event_id);
}

void Session::reached(uint64_t time_ns) {
    give(now_->sums.reached(time_ns, pipeline_));
}

void Session::give(const std::vector<sink::Sums>& sums) {
    for (const sink::Sums& gained : sums) outputs_.sinks().sums(gained, pipeline_.take_event_id());
}

Result<void> Session::arm() {
    Follower& follower = now_->follower;
    if (command_) {
        if (auto done = follower.add(command_->pid()); !done) return done;
    }
    auto look = [this](int pid) { now_->look_for_python(pid); };  // children come meanwhile
    auto ended = follower.add_all(options_.targets.pids, look);
    if (!ended) return ended.error();
    for (int pid : *ended)
        tell_note(options_.verbosity,
                  fmt::format("process {} ended before it could be traced", pid));
    if (options_.targets.everyone) now_->look_for_python(1);
    for (int pid : has_stacks_ ? follower.processes() : std::vector<int>())
        pipeline_.found(static_cast<uint32_t>(pid));
    if (command_) command_->stand_by();  // last: it does not stay awake for long
    return follower.arm();
}

void Session::take(Generation& from, uint32_t cpu, std::span<const std::byte> record) {
    if (!saw_record_) {
        saw_record_ = true;
        steps_.done("first record");
    }
    from.look_at(record);
    if (&from != now_.get()) return change_->held.add(cpu, record);
    if (change_ && change_->tells_of_process(record, true)) return;
    // A stack is looked at when it arrives. What it lies in was mapped before.
    bool may_have_stack = record.size() > sizeof(plan::RecordHeader) + sizeof(plan::UserStack);
    if (mappings_ && has_stacks_ && may_have_stack) mappings_->sweep();
    pipeline_.add(cpu, record);
}

Result<void> Session::watch_mappings(const Generation& all) {
    const plan::Plan& plan = all.frontend.plan;
    has_stacks_ |= plan.knows_mappings();
    if (mappings_ || !(has_stacks_ || plan.knows_pythons() || all.other_files.has_work()))
        return {};
    auto mapped = [this](bpf::MappingStream::Mapped m) {
        now_->mapped(m);
        if (change_) change_->coming->mapped(m);
        if (!has_stacks_) return;
        pipeline_.add_mapping({m.pid, m.start, m.size, m.offset, m.device_major, m.device_minor,
                               m.inode, std::move(m.path), m.time_ns});
    };
    auto forked = [this](const bpf::MappingStream::Forked& f) {
        if (has_stacks_) pipeline_.inherit_mappings(f.parent, f.pid);
    };
    Result<bpf::MappingStream> stream = bpf::MappingStream::open(mapped, forked);
    if (!stream && (has_stacks_ || plan.takes(rules::StackKind::python))) return stream.error();
    if (!stream) {  // most Pythons are found without
        if (plan.knows_pythons())
            tell_note(options_.verbosity,
                      "Pythons that start later may not be found: " + stream.error().message());
        return {};
    }
    mappings_.emplace(std::move(*stream));
    return {};
}

void Session::sweep() {
    const uint64_t now =
        process::monotonic_ns();  // before: what came until then is in the pipeline
    now_->stream->sweep();
    now_->take_given([this] { pipeline_.grow(); });
    if (change_) {
        change_->coming->stream->sweep();
        change_->coming->take_given([] {});
    }
    if (mappings_) mappings_->sweep();
    now_->tell_other_files(now);
    now_->looks->work(
        now, [this] { return now_->follower.processes(); }, pipeline_);
    if (!change_) now_->sums.work(now, pipeline_);
    pipeline_.advance(now);
    if (!change_) now_->learning.work(now, pipeline_.learning());
    periodically(now);
    left_ |= !outputs_.work(now, counted_);
    if (options_.reload.at_signal) attend_reload(now);
}

void Session::periodically(uint64_t now_ns) {
    if (now_ns - last_flush_ns_ >= kFlushNs) {
        last_flush_ns_ = now_ns;
        if (auto done = outputs_.sinks().flush(); !done && !failure_) failure_ = done.error();
    }
    if (now_ns - last_check_ns_ < kCheckNs) return;
    last_check_ns_ = now_ns;
    now_->follower.clean_up();
    if (now_->cost.is_due(now_ns)) attend_cost(now_ns);
    roots_ended_ = !command_ && !options_.targets.everyone && now_->follower.running_roots() == 0;
    add_losses(now_ns);
}

void Session::add_losses(uint64_t now_ns) {
    for (event::Loss& loss : now_->metrics.new_losses(now_ns)) pipeline_.add_loss(std::move(loss));
}

bool Session::command_ended() {
    if (!command_) return false;
    if (!command_status_) command_status_ = command_->try_wait();
    if (const auto used = command_->cpu_ns()) now_->cost.ended(command_->pid(), *used);
    return command_status_.has_value();
}

void Session::take_late() {
    now_->take_late([this] { pipeline_.grow(); });
    if (change_) change_->coming->take_late([] {});
}

// What the command's own start opens may be awaited, too.
void Session::attend_start() {
    command_->open_gate();
    while (now_->late && command_->report_fd() >= 0) {
        pollfd waiting[2] = {{command_->report_fd(), POLLIN, 0}, {now_->late->fd(), POLLIN, 0}};
        ::poll(waiting, 2, -1);
        if (waiting[0].revents != 0) return;
        take_late();
    }
}

void Session::wait() {
    auto late = [](const Generation* one) { return one && one->late ? one->late->fd() : -1; };
    Generation* coming = change_ ? change_->coming.get() : nullptr;
    pollfd waiting[6] = {{now_->stream->poll_fd(), POLLIN, 0},
                         {signals_->fd(), POLLIN, 0},
                         {late(now_.get()), POLLIN, 0},
                         {command_ ? command_->pidfd() : -1, POLLIN, 0},
                         {coming != nullptr ? coming->stream->poll_fd() : -1, POLLIN, 0},
                         {late(coming), POLLIN, 0}};
    const uint64_t now = process::monotonic_ns();
    const bool is_lazy = options_.serve() != nullptr && outputs_.trace_file().empty();
    const int most_ms = is_lazy ? kLazySweepMs : kSweepMs;
    const int patience_ms = now_->looks->patience_ms(now, now_->sums.patience_ms(now, most_ms));
    ::poll(waiting, 6, patience_ms);
    take_late();
}

Session::End Session::poll() {
    wait();
    bool ended = command_ended();  // asked before the sweep that reads all it has left
    sweep();
    handle_interrupts();
    uint64_t now = process::monotonic_ns();
    if (failure_) return End::failed;
    if (ended) return End::command;
    if (left_) return End::left;
    if (interrupts_ > 0) {
        bool waited = now - interrupted_ns_ > kEndPatienceNs;
        if (!command_ || interrupts_ > 1 || waited) return End::interrupted;
    }
    if (options_.duration && now - start_ns_ >= static_cast<uint64_t>(options_.duration->count())) {
        return End::duration;
    }
    return roots_ended_ ? End::processes : End::none;
}

void Session::give_up_rights() {
    if (options_.reload.at_signal) return;
    const Generation& all = *now_;
    WorkToCome work =
        work_to_come(all.frontend.plan, command_.has_value(),
                     all.late || all.given || all.learning.may_attach(), all.loaded.mode);
    work.processes |= !options_.targets.pids.empty() && all.going_on.finds_threads();
    session::give_up_rights(
        work, steps_, [&] { return all.follower.reads_maps(); },
        [&] { return all.follower.sees_roots(); });
}

int Session::run() {
    if (options_.reading.realtime && !become_realtime())
        steps_.tell("events are read at normal priority: real-time was refused");
    take_late();
    if (auto done = arm(); !done) return tell(done.error());
    give_up_rights();
    if (!options_.targets.everyone) now_->cost.begin(now_->follower.processes());
    if (command_) {
        steps_.done("arm");
        attend_start();
        if (auto done = command_->release(); !done) {
            tell(done.error());
            return process::failed_exec_status(done.error().code);
        }
        steps_.done("release the command");
    } else if (options_.targets.everyone || !options_.targets.pids.empty()) {
        tell_note(options_.verbosity, fmt::format("tracing {}; Ctrl-C ends the trace",
                                                  sink::plural(now_->loaded.probes, "function")));
    }
    now_->looks->start(process::monotonic_ns(), !command_);
    now_->sums.start(start_ns_);
    outputs_.begin(start_ns_);
    reloader_.watch(now_->frontend.sources.watched());
    End end = End::none;
    guarded([&] {
        while (end == End::none) end = poll();
    });
    if (failure_) end = End::failed;
    outputs_.leave_terminal();  // a second Ctrl-C may end the tracer at once
    guarded([&] {
        if (auto done = finish(end); !done) failure_ = done.error();
    });
    return status(end);
}

// Probes go first: once they are gone, what was counted and what is in the rings no longer changes.
Result<void> Session::finish(End end) {
    signals_->let_through(interrupts_ == 0);  // a first Ctrl-C may come just as the trace ends
    end_change();
    now_->stop_waiting();
    if (auto note = now_->looks->note()) tell_note(options_.verbosity, *note);
    const std::vector<int> processes = now_->follower.processes();
    now_->cost.look(process::monotonic_ns(), processes);
    now_->disarm();
    if (end == End::command) tell_left_behind(options_.verbosity, processes);
    const uint64_t end_ns = process::monotonic_ns();
    missed_ += now_->loaded.missed();
    now_->detach();
    if (mappings_) mappings_->sweep();
    now_->stream->sweep();
    now_->tell_other_files(process::monotonic_ns());
    add_losses(end_ns);
    pipeline_.finish();
    give(now_->sums.last(end_ns, pipeline_));
    steps_.done("detach and drain");
    if (failure_) return *failure_;
    if (uint64_t lost = now_->metrics.lost_process_records(); lost > 0) {
        tell_note(
            options_.verbosity,
            fmt::format("{} notices of forks, execs and exits found no room in the buffer: spans "
                        "may stay open longer than their threads",
                        lost));
    }
    const sink::TraceEnd totals = trace_end(end, end_ns);  // without the id of what tells them
    return outputs_.finish(totals, pipeline_.take_event_id(), counted_);
}

void Session::attend_cost(uint64_t now_ns) {
    now_->cost.look(now_ns, now_->follower.processes());
    if (outputs_.screen() != nullptr) return;  // which shows it
    if (const auto warning = now_->cost.warning()) tell_note(options_.verbosity, *warning);
}

const char* Session::reason(End end) {
    switch (end) {
    case End::none: return "";
    case End::command: return "the command ended";
    case End::processes: return "the processes ended";
    case End::interrupted: return "interrupted";
    case End::duration: return "the duration was over";
    case End::left: return "the live view was closed";
    case End::failed: return "failed";
    }
    return "";
}

sink::TraceEnd Session::trace_end(End end, uint64_t time_ns) {
    sink::TraceEnd made;
    made.time_ns = time_ns;
    made.end_reason = reason(end);
    made.reloads = reloads_;
    made.missed = missed_;
    made.metrics = now_->metrics_of(pipeline_);
    sink::add_counts(made, pipeline_, now_->frontend.plan, start_ns_);
    return made;
}

}  // namespace mlbcc::session
