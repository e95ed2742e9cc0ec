// A running trace: rings to pipeline to sinks, the command, signals, the clock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bpf/kernel.h"
#include "event/pipeline.h"
#include "sink/sink.h"
#include "system/process.h"
#include "trace/coverage.h"
#include "trace/follow.h"
#include "trace/frontend.h"
#include "trace/given.h"
#include "trace/kernel_names.h"
#include "trace/late.h"
#include "trace/loader.h"
#include "trace/metrics.h"
#include "trace/options.h"
#include "trace/process_looks.h"
#include "trace/python_watch.h"
#include "trace/signals.h"

namespace mlbcc::trace {

class Session : private event::EventConsumer {
public:
    // Opens the rings, which takes its time: best done while the compiler works.
    static Result<std::unique_ptr<Session>> open(const TraceOptions& options, Frontend& frontend,
                                                 const bpf::Map& rings, Steps& steps);
    Result<void> hold_command(const system::LaunchOptions& launch);
    // The probes, which nothing records until run(); opens the sinks.
    Result<void> take(Loaded loaded, const std::string& output);
    void await(LateLibraries late) { late_.emplace(std::move(late)); }
    // Once the probes are taken; `folders` are those of the command's PATH.
    void find_pythons(const std::vector<std::string>& folders);
    int run();  // to the end; the exit status

private:
    enum class End { none, command, processes, interrupted, duration, failed };

    Session(const TraceOptions& options, Frontend& frontend, Steps& steps);
    Result<void> open_sinks(const std::string& output);

    void event(const event::Event& event) override;
    void lost(const event::Loss& loss, uint64_t event_id) override;

    Result<void> arm();
    void attend_start();
    void take_late();
    void take_given();              // functions that programs were given by address
    void look_for_python(int pid);  // in a process that runs, and its children
    End poll();
    void sweep();
    Result<void> watch_mappings();  // where a rule takes stacks
    void take(uint32_t cpu, std::span<const std::byte> record);
    void periodically(uint64_t now_ns);
    void add_losses(uint64_t now_ns);
    Result<void> flush();
    void handle_interrupts();
    bool command_ended();
    Result<void> finish(End end);
    sink::TraceEnd trace_end(End end);
    static const char* reason(End end);
    int status(End end);
    void use_realtime();

    const TraceOptions& options_;
    Frontend& frontend_;
    Steps& steps_;
    Loaded loaded_;
    std::unique_ptr<sink::NestedTimes> nested_;
    PythonWatch pythons_;
    KernelFunctionNames kernel_names_;
    event::Pipeline pipeline_;
    Follower follower_;
    ProcessLooks looks_;
    Metrics metrics_;
    Coverage coverage_;
    std::optional<bpf::Stream> stream_;
    std::optional<bpf::MappingStream> mappings_;
    std::optional<Signals> signals_;
    std::optional<LateLibraries> late_;
    std::optional<GivenFunctions> given_;  // where some rule has a `trace`
    std::optional<system::ChildProcess> command_;
    std::vector<std::unique_ptr<sink::Sink>> sinks_;
    std::string output_;
    std::optional<Error> failure_;
    std::optional<int> command_status_;
    int interrupts_ = 0;
    uint64_t start_ns_ = 0, last_flush_ns_ = 0, last_check_ns_ = 0, interrupted_ns_ = 0;
    bool saw_record_ = false;
};

}  // namespace mlbcc::trace
