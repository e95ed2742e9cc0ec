#include "trace/serve.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/tell.h"
#include "report/requests.h"
#include "system/clock.h"
#include "trace/report_file.h"
#include "trace/trace.h"

namespace mlbcc::trace {
namespace {

class LiveRequests : public RequestSink {
public:
    LiveRequests(const ServeOptions& serve, Verbosity verbosity, uint64_t start_ns, ReportFile json)
        : requests_(serve.requests), json_(std::move(json)),
          is_quiet_(verbosity == Verbosity::quiet), start_ns_(start_ns), shown_ns_(start_ns),
          interval_ns_(serve.interval_ns) {}

    report::Requests& requests() override { return requests_; }
    void event(const event::Event& one) override { requests_.add(reader_.read(one, start_ns_)); }

    Result<void> flush() override {
        uint64_t now = system::monotonic_ns();
        if (interval_ns_ == 0 || is_quiet_ || now < shown_ns_ + interval_ns_) return {};
        const report::Requests::Since since{shown_ns_ - start_ns_, shown_};
        shown_ns_ = now;
        shown_ = requests_.endpoints().requests();
        return show(now - start_ns_, since);
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
    Result<void> show(uint64_t time_ns, std::optional<report::Requests::Since> since = {}) {
        return write_report(STDERR_FILENO, requests_.text(time_ns, since), "the table");
    }
    static void tell_lost(uint64_t lost) {
        tell_note(Verbosity::normal,
                  fmt::format("{} lost: requests are missing, or cut; give --buffer a larger size",
                              sink::plural(lost, "event")));
    }

    report::Requests requests_;
    report::HappeningReader reader_;
    ReportFile json_;
    bool is_quiet_;
    uint64_t start_ns_, shown_ns_, interval_ns_;
    uint64_t shown_ = 0;  // requests, in the table that was shown last
};

// A rule for each of the calls, which says which it was; or those that say what each is for.
void add_syscalls(const std::vector<std::string>& calls, RuleOptions& rules) {
    if (calls.front() == ServeOptions::kCategories) {
        rules.rules.insert(rules.rules.begin(), "serve_calls");
        return;
    }
    const std::string name = "--syscalls";
    std::string& text = rules.given[name];
    for (const std::string& one : calls)
        text += fmt::format("on syscall:{0} {{ event serve.call(call = \"{0}\") }}\n", one);
    rules.rules.insert(rules.rules.begin(), name);
}

void add_marker(const ServeOptions::Marker& marker, RuleOptions& rules) {
    const std::string name = "--marker";
    rules.given[name] = fmt::format("void {0}(unsigned long request);\n"
                                    "on entry \"{1}\":{0} {{ event serve.mark(request) }}\n",
                                    marker.function, marker.library);
    rules.rules.insert(rules.rules.begin(), name);
}

}  // namespace

int run_serve(TraceOptions options, const ServeOptions& serve) {
    auto& rules = options.rules.rules;
    if (!serve.syscalls.empty()) add_syscalls(serve.syscalls, options.rules);
    if (!serve.marker.function.empty()) add_marker(serve.marker, options.rules);
    if (serve.stacks) rules.insert(rules.begin(), "serve_stacks");
    if (serve.requests.http) rules.insert(rules.begin(), "serve_http");
    rules.insert(rules.begin(), "serve");
    options.purpose = serve;
    return run_trace(options);
}

Result<std::unique_ptr<RequestSink>> open_requests(const ServeOptions& serve,
                                                   const ReportOptions& report, Verbosity verbosity,
                                                   const sink::TraceInfo& info) {
    Result<ReportFile> json = ReportFile::create(report.json);
    if (!json) return json.error();
    if (serve.interval_ns == 0)
        tell_note(verbosity,
                  "requests are shown at the end; --interval 5s shows them meanwhile, too");
    return std::unique_ptr<RequestSink>(
        std::make_unique<LiveRequests>(serve, verbosity, info.start_ns, std::move(*json)));
}

std::optional<int> report_saved_requests(report::TraceFile& trace, const std::string& file,
                                         const ReportOptions& report, Verbosity verbosity) {
    report::Requests requests({});
    Result<std::optional<report::SavedRequests>> saved = report::read_requests(trace, requests);
    if (!saved) return tell(saved.error());
    if (!*saved) return {};
    const report::SavedRequests& found = **saved;
    if (!found.has_summary) {
        tell_note(verbosity,
                  fmt::format("{} has no summary: it was cut, or is still being written", file));
    }
    Result<ReportFile> json = ReportFile::create(report.json);
    if (!json) return tell(json.error());
    Result<void> done;
    if (json->is_wanted()) done = json->write(requests.json(found.time_ns, found.lost));
    if (done && report.json != "-")
        done = write_report(STDOUT_FILENO, requests.text(found.time_ns), "the table");
    return done ? 0 : tell(done.error());
}

}  // namespace mlbcc::trace
