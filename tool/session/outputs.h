// Where what a trace sees goes: its file, the summary (or what a profile or requests come to),
// lines and the screen of the terminal, Prometheus and a collector.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "event/event.h"
#include "exports/exports.h"
#include "plan/plan.h"
#include "session/options.h"
#include "session/serve.h"
#include "sink/sink.h"
#include "terminal/live_progress.h"
#include "terminal/live_screen.h"

namespace mlbcc::session {

class Outputs {
public:
    using Counted = exports::Exports::Counted;

    explicit Outputs(const TraceOptions& options)
        : options_(options), sinks_(sink::make_tee({})), exports_(options.requests().top) {}
    Outputs(const Outputs&) = delete;  // a sink writes to has_findings_
    Outputs& operator=(const Outputs&) = delete;

    // `screen` may be null; it outlives this.
    void show_on(terminal::LiveScreen* screen) { screen_ = screen; }
    Result<void> open_exports();  // where the options say
    // The sinks, which read `plan` to the end. `trace_file` may be "": none.
    Result<void> open(const std::string& trace_file, const sink::TraceInfo& info,
                      const plan::Plan& plan);
    void begin(uint64_t start_ns);  // of the exports, and what the terminal shows meanwhile

    sink::Sink& sinks() { return *sinks_; }
    void event(const event::Event& event);
    // What is due. To be called often. False: the user wants the trace to end.
    bool work(uint64_t now_ns, const Counted& counted);
    void leave_terminal();  // it is as it was
    Result<void> finish(const sink::TraceEnd& totals, uint64_t event_id, const Counted& counted);

    const std::string& trace_file() const { return trace_file_; }
    terminal::LiveScreen* screen() { return screen_; }   // null: none
    bool has_findings() const { return has_findings_; }  // that --fail-on is about

private:
    Result<std::unique_ptr<sink::Sink>> open_account(const sink::TraceInfo& info,
                                                     const plan::Plan& plan);
    requests::Requests* requests() {
        return requests_ == nullptr ? nullptr : &requests_->requests();
    }

    const TraceOptions& options_;
    std::unique_ptr<sink::Sink> sinks_;
    RequestSink* requests_ = nullptr;                   // one of them
    std::unique_ptr<terminal::LiveProgress> progress_;  // null: none is shown
    terminal::LiveScreen* screen_ = nullptr;
    exports::Exports exports_;
    std::string trace_file_;
    bool has_findings_ = false;
};

}  // namespace mlbcc::session
