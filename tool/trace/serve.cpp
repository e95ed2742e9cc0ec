#include "trace/serve.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/unique_fd.h"
#include "report/requests.h"
#include "trace/clock.h"
#include "trace/messages.h"
#include "trace/trace.h"

namespace mlbcc::trace {
namespace {

Result<void> write_all(int fd, std::string_view text, const std::string& name) {
    while (!text.empty()) {
        ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return system_error("cannot write " + name);
        text.remove_prefix(static_cast<size_t>(written));
    }
    return {};
}

// The file for JSON: none where `path` is "". Errors: cannot be created.
Result<UniqueFd> create(const std::string& path) {
    if (path.empty()) return UniqueFd();
    UniqueFd file(path == "-"
                      ? ::dup(STDOUT_FILENO)
                      : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) return system_error("cannot create " + path);
    return file;
}

class LiveRequests : public sink::Sink {
public:
    LiveRequests(const TraceOptions& options, uint64_t start_ns, UniqueFd json)
        : requests_(options.serve.requests), json_(std::move(json)),
          json_name_(options.report_json), is_quiet_(options.verbosity == Verbosity::quiet),
          start_ns_(start_ns), shown_ns_(start_ns), interval_ns_(options.serve.interval_ns) {}

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
        if (!json_) return {};
        return write_all(json_.get(), requests_.json(time_ns, end.lost), json_name_);
    }

private:
    Result<void> show(uint64_t time_ns) {
        return write_all(STDERR_FILENO, requests_.text(time_ns), "the table");
    }
    static void tell_lost(uint64_t lost) {
        tell_note(Verbosity::normal,
                  fmt::format("{} events were lost: requests are missing, or cut; give --buffer a "
                              "larger size",
                              lost));
    }

    report::Requests requests_;
    report::HappeningReader reader_;
    UniqueFd json_;
    std::string json_name_;
    bool is_quiet_;
    uint64_t start_ns_, shown_ns_, interval_ns_;
};

}  // namespace

int run_serve(TraceOptions options) {
    auto& rules = options.rules.rules;
    if (options.serve.requests.http) rules.insert(rules.begin(), "serve_http");
    rules.insert(rules.begin(), "serve");
    options.serves = true;
    return run_trace(options);
}

Result<std::unique_ptr<sink::Sink>> open_requests(const TraceOptions& options,
                                                  const sink::TraceInfo& info) {
    Result<UniqueFd> json = create(options.report_json);
    if (!json) return json.error();
    return std::unique_ptr<sink::Sink>(
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
    Result<UniqueFd> json = create(options.report_json);
    if (!json) return tell(json.error());
    Result<void> done;
    if (*json)
        done =
            write_all(json->get(), requests.json(found.time_ns, found.lost), options.report_json);
    if (done && options.report_json != "-")
        done = write_all(STDOUT_FILENO, requests.text(found.time_ns), "the table");
    return done ? 0 : tell(done.error());
}

}  // namespace mlbcc::trace
