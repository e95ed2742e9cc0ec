// One set of rules as it runs: its programs and rings, whom it traces, what it counts. A trace has
// one; while its rules change, two.
//
//   foresee()        optional: what such a start needed before is loaded meanwhile
//   plan()           rules to plan; rings are opened meanwhile
//   begin_loading()  the compiler is at work
//   finish_loading() the probes are in place, and take nothing yet
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "account/cost_account.h"
#include "account/coverage.h"
#include "account/metrics.h"
#include "account/process_looks.h"
#include "account/sum_looks.h"
#include "base/result.h"
#include "bpf/kernel.h"
#include "load/frontend.h"
#include "load/given.h"
#include "load/going_on.h"
#include "load/late.h"
#include "load/learning_probes.h"
#include "load/loader.h"
#include "load/uprobe_touch.h"
#include "process/process_view.h"
#include "python/python.h"
#include "session/follow.h"
#include "session/keep.h"
#include "session/options.h"
#include "session/other_files.h"
#include "sink/sink.h"

namespace mlbcc::session {

class Generation {
public:
    // `threads` is the table that all programs share (bpf::make_thread_table()). All must outlive
    // it.
    Generation(const TraceOptions& options, const bpf::Map& threads, load::Steps& steps);
    Generation(const Generation&) = delete;
    Generation& operator=(const Generation&) = delete;

    Result<void> foresee();
    // The rules' mistakes are in frontend.diagnostics; what follows needs rules without.
    Result<void> plan(std::vector<process::ProcessView> views);
    Result<void> begin_loading();
    Result<void> attach();            // that needs no programs
    Result<void> finish_loading();    // and attach() the rest; the stream is there then
    bpf::Stream::OnRecord on_record;  // of the stream, to be set before anything is taken

    // The Pythons that `command` or a program in these folders may run, before it does.
    void find_pythons(const std::vector<std::string>& command);
    void look_for_python(int pid);  // in a process that runs, and its children
    // What a record says of processes and functions, whatever the pipeline makes of it.
    void look_at(std::span<const std::byte> record);
    void mapped(const bpf::MappingStream::Mapped& mapping);
    void tell_other_files(uint64_t read_ns);              // all records until then have been read
    void take_late(const std::function<void()>& grown);   // whoever opened it waits until this ends
    void take_given(const std::function<void()>& grown);  // functions by address
    void stop_waiting();                                  // for libraries
    void disarm();
    void tell_going_on();  // once nothing more is taken
    void detach();
    // Of all that was recorded; the pipeline must have had it.
    sink::MetricSnapshot metrics_of(const event::Pipeline& pipeline);

    load::Frontend frontend;
    load::Loader loader;
    Keeping keeping;  // of this start, once it has begun
    load::Loaded loaded;
    std::unique_ptr<sink::NestedTimes> nested;  // these two from plan() on
    std::optional<account::ProcessLooks> looks;
    python::PythonWatch pythons;
    Follower follower;
    account::Metrics metrics;
    account::SumLooks sums;
    account::Coverage coverage;
    account::CostAccount cost;
    std::optional<bpf::Stream> stream;
    std::optional<load::LateLibraries> late;
    std::optional<load::GivenFunctions> given;  // where some rule has a `trace`
    OtherFiles other_files;
    load::LearningProbes learning;
    load::GoingOn going_on;

private:
    const TraceOptions& options_;
    const bpf::Map& threads_;
    load::Steps& steps_;
    std::vector<std::string> folders_;  // of the programs' PATH
    Result<void> begin_to_open_rings();
    Result<void> take_rings();
    std::optional<bpf::Map> rings_;
    std::future<Result<bpf::Stream>> opening_;
    load::UprobeTouch touch_;  // until attach()
};

}  // namespace mlbcc::session
