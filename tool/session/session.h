// A running trace: rings to pipeline to sinks, the command, signals, the clock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpf/kernel.h"
#include "event/pipeline.h"
#include "process/clock.h"
#include "process/process.h"
#include "session/generation.h"
#include "session/kernel_names.h"
#include "session/options.h"
#include "session/outputs.h"
#include "session/reload.h"
#include "session/signals.h"
#include "sink/sink.h"

namespace mlbcc::session {

class Session : private event::EventConsumer {
public:
    // `generation` is loading. `threads` as for Generation.
    static Result<std::unique_ptr<Session>> open(const TraceOptions& options,
                                                 std::unique_ptr<Generation> generation,
                                                 const bpf::Map& threads, load::Steps& steps);
    void hold(process::ChildProcess command) { command_.emplace(std::move(command)); }
    // `screen` may be null; it outlives the session.
    void show_on(terminal::LiveScreen* screen) { outputs_.show_on(screen); }
    // The probes, which nothing records until run().
    Result<void> attach();
    // `trace_file` may be "": none.
    Result<void> open_outputs(const std::string& trace_file);
    Result<void> open_exports() { return outputs_.open_exports(); }
    int run();  // to the end; the exit status

private:
    enum class End { none, command, processes, interrupted, duration, left, failed };

    Session(const TraceOptions& options, std::unique_ptr<Generation> generation,
            const bpf::Map& threads, load::Steps& steps);

    void event(const event::Event& event) override;
    void lost(const event::Loss& loss, uint64_t event_id) override;
    void reached(uint64_t time_ns) override;
    void give(const std::vector<sink::Sums>& sums);

    Result<void> arm();
    void attend_start();
    End poll();
    void wait();
    void sweep();
    Result<void> watch_mappings(const Generation& all);  // where rules need it
    void take(Generation& from, uint32_t cpu, std::span<const std::byte> record);
    void take_late();
    void periodically(uint64_t now_ns);
    void add_losses(uint64_t now_ns);
    void handle_interrupts();
    void attend_cost(uint64_t now_ns);
    bool command_ended();
    Result<void> finish(End end);
    void guarded(const std::function<void()>& work);
    sink::TraceEnd trace_end(End end, uint64_t time_ns = process::monotonic_ns());
    static const char* reason(End end);
    int status(End end);
    void await_command();  // which goes on when the trace is over
    void give_up_rights();

    // The rules change (session_reload.cpp): the new ones are prepared, then both are in place and
    // share the calls out, then the old ones go.
    void attend_reload(uint64_t now_ns);
    Result<void> join(Generation& coming);  // whom it traces, and what it knows of them
    Result<void> begin_change(Prepared prepared);
    void begin_leaving();
    void change_over();
    void end_change();  // whatever of it is left to do, at the end of the trace

    const TraceOptions& options_;
    load::Steps& steps_;
    std::unique_ptr<Generation> now_;
    KernelFunctionNames kernel_names_;
    event::Pipeline pipeline_;
    Reloader reloader_;
    std::optional<RulesChange> change_;
    std::optional<bpf::MappingStream> mappings_;
    bool has_stacks_ = false;  // or names of functions: what is mapped is kept for them
    std::optional<Signals> signals_;
    std::optional<process::ChildProcess> command_;
    Outputs outputs_;
    const Outputs::Counted counted_ = [this] { return trace_end(End::none); };
    std::optional<Error> failure_;
    std::optional<int> command_status_;
    int interrupts_ = 0;
    uint64_t reloads_ = 0, missed_ = 0;
    uint64_t start_ns_ = 0, last_flush_ns_ = 0, last_check_ns_ = 0, interrupted_ns_ = 0;
    bool saw_record_ = false, roots_ended_ = false, left_ = false;
};

}  // namespace mlbcc::session
