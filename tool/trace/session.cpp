#include "trace/session.h"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>

#include <fmt/format.h>

#include "system/proc.h"
#include "trace/clock.h"
#include "trace/folded.h"
#include "trace/kept_rights.h"
#include "trace/messages.h"
#include "trace/profile.h"
#include "trace/trace_info.h"

namespace mlbcc::trace {
namespace {

constexpr int kSweepMs = 10;  // rings are read this often, whether or not they woke us
constexpr uint64_t kFlushNs = 40'000'000;
constexpr uint64_t kCheckNs = 100'000'000;
constexpr uint64_t kPatienceNs = 2'000'000'000;  // for a command to end after Ctrl-C

}  // namespace

Session::Session(const TraceOptions& options, Frontend& frontend, Steps& steps)
    : options_(options), frontend_(frontend), steps_(steps),
      nested_(sink::make_nested_times(frontend.plan)), pythons_(loaded_.kernel, options.verbosity),
      pipeline_(frontend.plan, *this,
                {.python_names = [this](uint64_t frame) { return pythons_.name(frame); },
                 .kernel_names = [this](uint64_t at) { return kernel_names_.find(at); }}),
      follower_(loaded_.kernel, options.everyone), looks_(frontend.plan),
      metrics_(frontend.plan, loaded_.kernel), coverage_(frontend.plan) {}

Result<std::unique_ptr<Session>> Session::open(const TraceOptions& options, Frontend& frontend,
                                               const bpf::Map& rings, Steps& steps) {
    std::unique_ptr<Session> made(new Session(options, frontend, steps));
    Result<Signals> signals = Signals::block();
    if (!signals) return signals.error();
    made->signals_.emplace(std::move(*signals));
    Result<bpf::Stream> stream =
        bpf::Stream::open(rings, options.buffer_bytes,
                          [session = made.get()](uint32_t cpu, std::span<const std::byte> record) {
                              session->take(cpu, record);
                          });
    if (!stream) return stream.error();
    made->stream_.emplace(std::move(*stream));
    if (made->stream_->bytes_per_cpu() < options.buffer_bytes) {
        tell_note(options.verbosity, fmt::format("the kernel gives only {} KiB of buffer a CPU",
                                                 made->stream_->bytes_per_cpu() / 1024));
    }
    if (auto done = made->watch_mappings(); !done) return done.error();
    steps.done("open rings");
    return made;
}

Result<void> Session::open_sinks(const std::string& output) {
    sink::TraceInfo info = trace_info(options_, frontend_, start_ns_);
    Result<std::unique_ptr<sink::Sink>> file = sink::open_jsonl(output, info, frontend_.plan);
    if (!file) return file.error();
    sinks_.push_back(std::move(*file));
    output_ = output;
    if (options_.profile) {
        Result<std::unique_ptr<sink::Sink>> profile = open_profile(options_, info);
        if (!profile) return profile.error();
        sinks_.push_back(std::move(*profile));
    } else if (options_.verbosity != Verbosity::quiet) {
        sinks_.push_back(sink::make_summary(STDERR_FILENO, info, frontend_.plan));
    }
    if (options_.folded.empty()) return {};
    Result<std::unique_ptr<sink::Sink>> folded = open_folded(options_);
    if (!folded) return folded.error();
    sinks_.push_back(std::move(*folded));
    return {};
}

Result<void> Session::hold_command(const system::LaunchOptions& launch) {
    Result<system::ChildProcess> child = system::ChildProcess::start(launch);
    if (!child) return child.error();
    command_.emplace(std::move(*child));
    return {};
}

Result<void> Session::take(Loaded loaded, const std::string& output) {
    loaded_ = std::move(loaded);
    if (frontend_.plan.traces_addresses()) given_.emplace(frontend_, loaded_);
    if (frontend_.plan.takes_kernel()) kernel_names_.read(options_.verbosity);
    start_ns_ = monotonic_ns();
    if (auto done = open_sinks(output); !done) return done;
    tell_refused(options_.verbosity, loaded_.refused, frontend_.plan);
    return {};
}

void Session::find_pythons(const std::vector<std::string>& folders) {
    if (!frontend_.plan.takes_python()) return;
    if (loaded_.kernel.map(codegen::maps::kPythons) == nullptr) {
        tell_note(options_.verbosity, "no Python stacks: they need x86-64 and the kernel's BTF");
        return;
    }
    pythons_.prepare(options_.command, folders);
    steps_.done("find Pythons");
}

void Session::look_for_python(int pid) {
    if (!frontend_.plan.takes_python()) return;
    pythons_.look_at(pid);
    for (int child : system::descendants_of(pid)) pythons_.look_at(child);
}

void Session::event(const event::Event& event) {
    nested_->event(event);
    coverage_.event(event);
    for (auto& sink : sinks_) sink->event(event);
}

void Session::lost(const event::Loss& loss, uint64_t event_id) {
    for (auto& sink : sinks_) sink->lost(loss, event_id);
}

Result<void> Session::arm() {
    if (command_) {
        if (auto done = follower_.add(command_->pid()); !done) return done;
    }
    for (int pid : options_.pids) {
        look_for_python(pid);
        if (auto done = follower_.add_with_children(pid); !done) return done;
        look_for_python(pid);  // in children that it has had meanwhile
    }
    if (options_.everyone) look_for_python(1);
    return follower_.arm();
}

void Session::take(uint32_t cpu, std::span<const std::byte> record) {
    if (!saw_record_) {
        saw_record_ = true;
        steps_.done("first record");
    }
    follower_.look_at(record);
    if (given_) given_->look_at(record);
    // A stack is looked at when it arrives. What it lies in was mapped before.
    bool may_have_stack = record.size() > sizeof(plan::RecordHeader) + sizeof(plan::UserStack);
    if (mappings_ && may_have_stack) mappings_->sweep();
    pipeline_.add(cpu, record);
}

Result<void> Session::watch_mappings() {
    if (!frontend_.plan.takes_stacks() && !frontend_.plan.takes_python()) return {};
    Result<bpf::MappingStream> stream =
        bpf::MappingStream::open([this](bpf::MappingStream::Mapped m) {
            pythons_.mapped(m.pid, m.start, m.offset, m.path);
            pipeline_.add_mapping({m.pid, m.start, m.size, m.offset, m.device_major, m.device_minor,
                                   m.inode, std::move(m.path), m.time_ns});
        });
    if (!stream) return stream.error();
    mappings_.emplace(std::move(*stream));
    return {};
}

void Session::sweep() {
    stream_->sweep();
    take_given();
    if (mappings_) mappings_->sweep();
    uint64_t now = monotonic_ns();
    looks_.work(
        now, [this] { return follower_.processes(); }, pipeline_);
    pipeline_.advance(now);
    periodically(now);
}

void Session::periodically(uint64_t now_ns) {
    if (now_ns - last_flush_ns_ >= kFlushNs) {
        last_flush_ns_ = now_ns;
        if (auto done = flush(); !done && !failure_) failure_ = done.error();
    }
    if (now_ns - last_check_ns_ < kCheckNs) return;
    last_check_ns_ = now_ns;
    follower_.clean_up();
    add_losses(now_ns);
}

void Session::add_losses(uint64_t now_ns) {
    for (event::Loss& loss : metrics_.new_losses(now_ns)) pipeline_.add_loss(std::move(loss));
}

Result<void> Session::flush() {
    for (auto& sink : sinks_) {
        if (auto done = sink->flush(); !done) return done;
    }
    return {};
}

bool Session::command_ended() {
    if (!command_) return false;
    if (!command_status_) command_status_ = command_->try_wait();
    return command_status_.has_value();
}

// Ctrl-C at a terminal reaches the command, too; a signal that only the tracer got is passed on.
void Session::handle_interrupts() {
    while (auto interrupt = signals_->next()) {
        ++interrupts_;
        interrupted_ns_ = monotonic_ns();
        if (command_ && !command_status_ && !interrupt->from_terminal) {
            ::kill(command_->pid(), interrupt->signal);
        }
    }
}

// Whoever opened it waits until this is done.
void Session::take_late() {
    while (late_) {
        std::optional<LateArrival> came = late_->next(loaded_);
        if (!came && !late_->is_alive()) {
            tell_note(options_.verbosity, "no library is waited for any more: the process that "
                                          "does so has ended");
            late_.reset();
        }
        if (!came) return;
        pipeline_.grow();
        for (const std::string& note : came->notes) tell_note(options_.verbosity, note);
        late_->let_go(*came);
    }
}

void Session::take_given() {
    if (!given_ || !given_->has_new()) return;
    for (const std::string& note : given_->probe_new()) tell_note(options_.verbosity, note);
    pipeline_.grow();
}

// What the command's own start opens may be awaited, too.
void Session::attend_start() {
    command_->open_gate();
    while (late_ && command_->report_fd() >= 0) {
        pollfd waiting[2] = {{command_->report_fd(), POLLIN, 0}, {late_->fd(), POLLIN, 0}};
        ::poll(waiting, 2, -1);
        if (waiting[0].revents != 0) return;
        take_late();
    }
}

Session::End Session::poll() {
    pollfd waiting[4] = {{stream_->poll_fd(), POLLIN, 0},
                         {signals_->fd(), POLLIN, 0},
                         {late_ ? late_->fd() : -1, POLLIN, 0},
                         {command_ ? command_->pidfd() : -1, POLLIN, 0}};
    ::poll(waiting, 4, looks_.patience_ms(monotonic_ns(), kSweepMs));
    take_late();
    bool ended = command_ended();  // asked before the sweep that reads all it has left
    sweep();
    handle_interrupts();
    uint64_t now = monotonic_ns();
    if (failure_) return End::failed;
    if (ended) return End::command;
    if (interrupts_ > 0) {
        bool waited = now - interrupted_ns_ > kPatienceNs;
        if (!command_ || interrupts_ > 1 || waited) return End::interrupted;
    }
    if (options_.duration && now - start_ns_ >= static_cast<uint64_t>(options_.duration->count())) {
        return End::duration;
    }
    bool by_pid = !command_ && !options_.everyone;
    if (by_pid && follower_.running_roots() == 0) return End::processes;
    return End::none;
}

void Session::use_realtime() {
    if (!options_.realtime) return;
    sched_param priority{};
    priority.sched_priority = 1;  // above all normal work, below every other real-time task
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) != 0) {
        steps_.tell("events are read at normal priority: real-time was refused");
    }
}

int Session::run() {
    use_realtime();
    take_late();
    if (command_) command_->stand_by();
    if (auto done = arm(); !done) return tell(done.error());
    give_up_rights(
        work_to_come(frontend_.plan, command_.has_value(), late_ || given_, loaded_.mode), steps_,
        [this] { return follower_.reads_maps(); }, [this] { return follower_.sees_roots(); });
    if (command_) {
        steps_.done("arm");
        attend_start();
        if (auto done = command_->release(); !done) {
            tell(done.error());
            return system::failed_exec_status(done.error().code);
        }
        steps_.done("release the command");
    } else if (options_.everyone || !options_.pids.empty()) {
        tell_note(options_.verbosity,
                  fmt::format("tracing {} functions; Ctrl-C ends the trace", loaded_.probes));
    }
    looks_.start(monotonic_ns(), !command_);
    End end = End::none;
    while (end == End::none) end = poll();
    if (auto done = finish(end); !done) failure_ = done.error();
    return status(end);
}

// Probes go first: once they are gone, what was counted and what is in the rings no longer changes.
Result<void> Session::finish(End end) {
    signals_->let_through(interrupts_ == 0);  // a first Ctrl-C may come just as the trace ends
    if (late_) {
        for (const std::string& title : late_->never_came()) {
            tell_note(options_.verbosity, fmt::format("library {} never came", title));
        }
        late_.reset();  // nobody waits any more
    }
    if (auto note = looks_.note()) tell_note(options_.verbosity, *note);
    follower_.disarm();
    loaded_.detach();
    pythons_.detach();
    if (mappings_) mappings_->sweep();
    stream_->sweep();
    add_losses(monotonic_ns());
    pipeline_.finish();
    steps_.done("detach and drain");
    if (failure_) return *failure_;
    if (uint64_t lost = metrics_.lost_process_records(); lost > 0) {
        tell_note(
            options_.verbosity,
            fmt::format("{} notices of forks, execs and exits found no room in the buffer: spans "
                        "may stay open longer than their threads",
                        lost));
    }
    sink::TraceEnd totals = trace_end(end);
    uint64_t id = pipeline_.take_event_id();
    Result<void> result;
    for (auto& sink : sinks_) {
        if (auto done = sink->finish(totals, id); !done && result.ok()) result = done;
    }
    return result;
}

const char* Session::reason(End end) {
    switch (end) {
    case End::none: return "";
    case End::command: return "the command ended";
    case End::processes: return "the processes ended";
    case End::interrupted: return "interrupted";
    case End::duration: return "the duration was over";
    case End::failed: return "failed";
    }
    return "";
}

sink::TraceEnd Session::trace_end(End end) {
    sink::TraceEnd made;
    made.time_ns = monotonic_ns();
    made.end_reason = reason(end);
    made.metrics = metrics_.snapshot(pipeline_, coverage_);
    sink::add_counts(made, pipeline_, frontend_.plan, start_ns_);
    made.metrics.nested = nested_->times();
    if (given_) made.metrics.addresses = given_->totals();
    std::vector<plan::ProbeId> refused;
    for (const bpf::Refusal& one : loaded_.refused) refused.push_back(one.probe);
    made.metrics.coverage = coverage_.libraries(refused, made.metrics.losses);
    return made;
}

int Session::status(End end) {
    if (failure_) {
        tell(*failure_);
    } else if (output_ != "-") {
        tell_note(options_.verbosity, "trace written to " + output_);
    }
    if (command_ && !command_status_ && end != End::interrupted) {
        tell_note(options_.verbosity, "the command goes on, untraced");
        signals_->let_through(false);
        command_status_ = command_->wait();
    }
    if (failure_) return kExitFailure;
    if (command_status_) return system::exit_status(*command_status_);
    return command_ ? 128 + SIGINT : 0;
}

}  // namespace mlbcc::trace
