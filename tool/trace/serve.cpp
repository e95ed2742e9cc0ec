#include "trace/serve.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "report/requests.h"
#include "trace/clock.h"
#include "trace/messages.h"
#include "trace/report_file.h"
#include "trace/trace.h"

namespace mlbcc::trace {
namespace {

class LiveRequests : public RequestSink {
public:
    LiveRequests(const TraceOptions& options, uint64_t start_ns, ReportFile json)
        : requests_(options.serve.requests), json_(std::move(json)),
          is_quiet_(options.verbosity == Verbosity::quiet), start_ns_(start_ns),
          shown_ns_(start_ns), interval_ns_(options.serve.interval_ns) {}

    report::Requests& requests() override { return requests_; }
    void event(const event::Event& one) override { requests_.add(reader_.read(one, start_ns_)); }

    Result<void> flush() override {
        uint64_t now = monotonic_ns();
        if (interval_ns_ == 0 || is_quiet_ || now < shown_ns_ + interval_ns_) return {};
        shown_ns_ = now;
        return show(now - start_ns_);
    }

    Result<void> finish(const sink::TraceEnd& end, uint64_t /*event_id*/) override {
        requests_.finish();
        uint64_t time_ns = end.time_ns - std::min(start_ns_, end.time_ns);
        if (!is_quiet_) {
            if (auto done = show(time_ns); !done) return done;
        }
        if (end.lost > 0 && !is_quiet_) tell_lost(end.lost);
        return json_.is_wanted() ? json_.write(requests_.json(time_ns, end.lost)) : Result<void>();
    }

private:
    Result<void> show(uint64_t time_ns) {
        return write_report(STDERR_FILENO, requests_.text(time_ns), "the table");
    }
    static void tell_lost(uint64_t lost) {
        tell_note(Verbosity::normal,
                  fmt::format("{} events were lost: requests are missing, or cut; give --buffer a "
                              "larger size",
                              lost));
    }

    report::Requests requests_;
    report::HappeningReader reader_;
    ReportFile json_;
    bool is_quiet_;
    uint64_t start_ns_, shown_ns_, interval_ns_;
};

// A rule for each of the calls, which says which it was; or those that say what each is for.
void add_syscalls(TraceOptions& options) {
    if (options.serve.syscalls.front() == ServeOptions::kCategories) {
        options.rules.rules.insert(options.rules.rules.begin(), "serve_calls");
        return;
    }
    const std::string name = "--syscalls";
    std::string& text = options.rules.given[name];
    for (const std::string& one : options.serve.syscalls)
        text += fmt::format("on syscall:{0} {{ event serve.call(call = \"{0}\") }}\n", one);
    options.rules.rules.insert(options.rules.rules.begin(), name);
}

void add_marker(TraceOptions& options) {
    const std::string name = "--marker";
    const ServeOptions::Marker& marker = options.serve.marker;
    options.rules.given[name] =
        fmt::format("void {0}(unsigned long request);\n"
                    "on entry \"{1}\":{0} {{ event serve.mark(request) }}\n",
                    marker.function, marker.library);
    options.rules.rules.insert(options.rules.rules.begin(), name);
}

}  // namespace

int run_serve(TraceOptions options) {
    auto& rules = options.rules.rules;
    if (!options.serve.syscalls.empty()) add_syscalls(options);
    if (!options.serve.marker.function.empty()) add_marker(options);
    if (options.serve.stacks) rules.insert(rules.begin(), "serve_stacks");
    if (options.serve.requests.http) rules.insert(rules.begin(), "serve_http");
    rules.insert(rules.begin(), "serve");
    options.serves = true;
    return run_trace(options);
}

Result<std::unique_ptr<RequestSink>> open_requests(const TraceOptions& options,
                                                   const sink::TraceInfo& info) {
    Result<ReportFile> json = ReportFile::create(options.report_json);
    if (!json) return json.error();
    if (options.serve.interval_ns == 0)
        tell_note(options.verbosity,
                  "requests are shown at the end; --interval 5s shows them meanwhile, too");
    return std::unique_ptr<RequestSink>(
        std::make_unique<LiveRequests>(options, info.start_ns, std::move(*json)));
}

std::optional<int> report_saved_requests(report::TraceFile& trace, const std::string& file,
                                         const TraceOptions& options) {
    report::Requests requests(options.serve.requests);
    Result<std::optional<report::SavedRequests>> saved = report::read_requests(trace, requests);
    if (!saved) return tell(saved.error());
    if (!*saved) return {};
    const report::SavedRequests& found = **saved;
    if (!found.has_summary) {
        tell_note(options.verbosity,
                  fmt::format("{} has no summary: it was cut, or is still being written", file));
    }
    Result<ReportFile> json = ReportFile::create(options.report_json);
    if (!json) return tell(json.error());
    Result<void> done;
    if (json->is_wanted()) done = json->write(requests.json(found.time_ns, found.lost));
    if (done && options.report_json != "-")
        done = write_report(STDOUT_FILENO, requests.text(found.time_ns), "the table");
    return done ? 0 : tell(done.error());
}

}  // namespace mlbcc::trace
