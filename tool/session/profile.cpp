#include "session/profile.h"

#include <unistd.h>

#include "profile/profile.h"
#include "session/report_file.h"
#include "sink/summary_text.h"

namespace mlbcc::session {
namespace {

// Text for a descriptor of the caller's, JSON for a file.
class Output : public profile::ProfileOutput {
public:
    // Errors: cannot create options.json.
    static Result<std::unique_ptr<profile::ProfileOutput>> open(const ReportOptions& options,
                                                                int text_fd, bool& has_findings) {
        Result<ReportFile> json = ReportFile::create(options.json);
        if (!json) return json.error();
        std::unique_ptr<Output> made(new Output(options, text_fd, has_findings));
        made->json_ = std::move(*json);
        return std::unique_ptr<profile::ProfileOutput>(std::move(made));
    }

    Result<void> show(const profile::Profile& profile) override {
        has_findings_ = fail_on_ && profile.security.reaches(*fail_on_);
        if (text_fd_ >= 0) {
            std::string text = profile::profile_text(profile, sink::terminal_width(text_fd_));
            if (auto done = write_report(text_fd_, text, "the profile"); !done) return done;
        }
        return json_.is_wanted() ? json_.write(profile::profile_json(profile)) : Result<void>();
    }

private:
    Output(const ReportOptions& options, int text_fd, bool& has_findings)
        : fail_on_(options.fail_on), has_findings_(has_findings), text_fd_(text_fd) {}

    std::optional<profile::Severity> fail_on_;
    bool& has_findings_;
    ReportFile json_;
    int text_fd_;  // -1: no text
};

}  // namespace

Result<std::unique_ptr<profile::ProfileOutput>>
open_profile_output(const ReportOptions& report, int text_fd, bool& has_findings) {
    return Output::open(report, text_fd, has_findings);
}

Result<std::unique_ptr<sink::Sink>> open_profile(const ReportOptions& report, Verbosity verbosity,
                                                 const sink::TraceInfo& info, bool& has_findings) {
    int text_fd = verbosity == Verbosity::quiet ? -1 : STDERR_FILENO;
    auto output = open_profile_output(report, text_fd, has_findings);
    if (!output) return output.error();
    return profile::make_profile(info, std::move(*output));
}

}  // namespace mlbcc::session
