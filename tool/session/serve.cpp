#include "session/serve.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "process/clock.h"
#include "requests/requests.h"
#include "session/report_file.h"
#include "text/tell.h"

namespace mlbcc::session {
namespace {

class LiveRequests : public RequestSink {
public:
    LiveRequests(const ServeOptions& serve, Verbosity verbosity, uint64_t start_ns, ReportFile json)
        : requests_(serve.requests), json_(std::move(json)),
          is_quiet_(verbosity == Verbosity::quiet), start_ns_(start_ns), shown_ns_(start_ns),
          interval_ns_(serve.interval_ns) {}

    requests::Requests& requests() override { return requests_; }
    void event(const event::Event& one) override { requests_.add(reader_.read(one, start_ns_)); }

    Result<void> flush() override {
        uint64_t now = process::monotonic_ns();
        if (interval_ns_ == 0 || is_quiet_ || now < shown_ns_ + interval_ns_) return {};
        const requests::Requests::Since since{shown_ns_ - start_ns_, shown_};
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
    Result<void> show(uint64_t time_ns, std::optional<requests::Requests::Since> since = {}) {
        return write_report(STDERR_FILENO, requests_.text(time_ns, since), "the table");
    }
    static void tell_lost(uint64_t lost) {
        tell_note(Verbosity::normal,
                  fmt::format("{} lost: requests are missing, or cut; give --buffer a larger size",
                              sink::plural(lost, "event")));
    }

    requests::Requests requests_;
    saved::FieldsReader reader_;
    ReportFile json_;
    bool is_quiet_;
    uint64_t start_ns_, shown_ns_, interval_ns_;
    uint64_t shown_ = 0;  // requests, in the table that was shown last
};

}  // namespace

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

}  // namespace mlbcc::session
