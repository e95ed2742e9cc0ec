#include "session/outputs.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "session/profile.h"
#include "session/report_file.h"
#include "terminal/print.h"

namespace mlbcc::session {

static terminal::LiveProgress::Where progress_of(const TraceOptions& options) {
    using Where = terminal::LiveProgress::Where;
    const auto* profile = std::get_if<ProfileOptions>(&options.purpose);
    if (profile == nullptr) return Where::nowhere;
    if (options.screen.live) return Where::screen;
    const bool is_wanted = profile->progress && options.verbosity != Verbosity::quiet;
    return is_wanted ? Where::line : Where::nowhere;
}

Result<void> Outputs::open_exports() {
    auto done = exports_.open(options_.exports, options_.targets.command);
    if (const auto url = exports_.url())
        tell_note(options_.verbosity, "Prometheus metrics are at " + *url);
    return done;
}

// What the trace comes to at its end, for people. Null: it is quiet.
Result<std::unique_ptr<sink::Sink>> Outputs::open_account(const sink::TraceInfo& info,
                                                          const plan::Plan& plan) {
    const ReportOptions& report = options_.output.report;
    if (options_.is_profile()) return open_profile(report, options_.verbosity, info, has_findings_);
    if (const ServeOptions* serve = options_.serve()) {
        Result<std::unique_ptr<RequestSink>> requests =
            open_requests(*serve, report, options_.verbosity, info);
        if (!requests) return requests.error();
        requests_ = requests->get();
        if (exports_.sends_requests())
            requests_->requests().finished().keep(serve->one_in, serve->requests.least_ns);
        return std::unique_ptr<sink::Sink>(std::move(*requests));
    }
    if (options_.verbosity == Verbosity::quiet) return std::unique_ptr<sink::Sink>();
    return sink::make_summary(STDERR_FILENO, info, plan);
}

Result<void> Outputs::open(const std::string& trace_file, const sink::TraceInfo& info,
                           const plan::Plan& plan) {
    trace_file_ = trace_file;
    std::vector<std::unique_ptr<sink::Sink>> opened;
    auto take = [&opened](Result<std::unique_ptr<sink::Sink>> sink) -> Result<void> {
        if (!sink) return sink.error();
        if (*sink) opened.push_back(std::move(*sink));
        return {};
    };
    auto note = [this](const std::string& text) { tell_note(options_.verbosity, text); };
    if (!trace_file.empty()) {
        if (auto done = take(sink::open_jsonl(trace_file, info, plan)); !done) return done;
    }
    if (options_.screen.print) {
        if (auto done = take(terminal::open_print(*options_.screen.print, plan, note)); !done)
            return done;
    }
    if (auto done = take(open_account(info, plan)); !done) return done;
    const FoldedOptions& folded = options_.output.folded;
    if (!folded.file.empty()) {
        if (auto done = take(open_folded(folded, options_.verbosity)); !done) return done;
    }
    sinks_ = sink::make_tee(std::move(opened));
    return {};
}

void Outputs::begin(uint64_t start_ns) {
    exports_.begin(start_ns);
    progress_ =
        terminal::LiveProgress::open(progress_of(options_), options_.screen.refresh, start_ns);
    if (screen_ != nullptr) screen_->start(start_ns);
}

void Outputs::event(const event::Event& event) {
    sinks_->event(event);
    if (progress_) progress_->event(event);
}

bool Outputs::work(uint64_t now_ns, const Counted& counted) {
    if (progress_) progress_->work(now_ns);
    bool goes_on = true;
    if (screen_ != nullptr) {
        goes_on = screen_->work(now_ns, [&] {
            return terminal::LiveScreen::Now{counted(), progress_ ? progress_->facts(now_ns) : ""};
        });
    }
    exports_.work(counted, requests());
    return goes_on;
}

void Outputs::leave_terminal() {
    if (screen_ != nullptr) screen_->end();
    progress_.reset();
}

Result<void> Outputs::finish(const sink::TraceEnd& totals, uint64_t event_id,
                             const Counted& counted) {
    auto done = sinks_->finish(totals, event_id);
    for (const std::string& text : exports_.finish(counted, requests()))
        tell_note(options_.verbosity, text);
    return done;
}

}  // namespace mlbcc::session
