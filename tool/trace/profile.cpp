#include "trace/profile.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "base/tell.h"
#include "report/profile.h"
#include "sink/summary_text.h"
#include "trace/report_file.h"
#include "trace/trace.h"

namespace mlbcc::trace {
namespace {

constexpr const char* kRules = "profile";

// A file of this name takes the place of the bundled one.
bool is_profile_rules(const std::string& file) {
    return std::filesystem::path(file).stem() == kRules;
}

// Each line that is written to the descriptor is a mark.
void add_marks(int fd, RuleOptions& rules) {
    std::string name = fmt::format("--marks {}", fd);
    rules.given[name] = fmt::format("on entry syscall:write {{ where fd == {} "
                                    "event phase.mark(text = str(buf, 64), bytes = count) }}\n",
                                    fd);
    rules.rules.push_back(name);
}

// Text for a descriptor of the caller's, JSON for a file.
class Output : public report::ProfileOutput {
public:
    // Errors: cannot create options.json.
    static Result<std::unique_ptr<Output>> open(const ReportOptions& options, int text_fd,
                                                bool& has_findings) {
        Result<ReportFile> json = ReportFile::create(options.json);
        if (!json) return json.error();
        std::unique_ptr<Output> made(new Output(options, text_fd, has_findings));
        made->json_ = std::move(*json);
        return made;
    }

    Result<void> show(const report::Profile& profile) override {
        has_findings_ = fail_on_ && profile.security.reaches(*fail_on_);
        if (text_fd_ >= 0) {
            std::string text = report::profile_text(profile, sink::terminal_width(text_fd_));
            if (auto done = write_report(text_fd_, text, "the profile"); !done) return done;
        }
        return json_.is_wanted() ? json_.write(report::profile_json(profile)) : Result<void>();
    }

private:
    Output(const ReportOptions& options, int text_fd, bool& has_findings)
        : fail_on_(options.fail_on), has_findings_(has_findings), text_fd_(text_fd) {}

    std::optional<report::Severity> fail_on_;
    bool& has_findings_;
    ReportFile json_;
    int text_fd_;  // -1: no text
};

}  // namespace

int run_profile(TraceOptions options, const ProfileOptions& profile) {
    if (std::ranges::none_of(options.rules.rules, is_profile_rules)) {
        options.rules.rules.insert(options.rules.rules.begin(), kRules);
    }
    if (profile.marks >= 0) add_marks(profile.marks, options.rules);
    options.purpose = profile;
    return run_trace(options);
}

Result<std::unique_ptr<sink::Sink>> open_profile(const ReportOptions& report, Verbosity verbosity,
                                                 const sink::TraceInfo& info, bool& has_findings) {
    int text_fd = verbosity == Verbosity::quiet ? -1 : STDERR_FILENO;
    Result<std::unique_ptr<Output>> output = Output::open(report, text_fd, has_findings);
    if (!output) return output.error();
    return report::make_profile(info, std::move(*output));
}

std::optional<int> report_saved_profile(report::TraceFile& trace, const std::string& file,
                                        const ReportOptions& report, Verbosity verbosity) {
    Result<std::optional<report::SavedProfile>> saved = report::read_profile(trace);
    if (!saved) return tell(saved.error());
    if (!*saved) return {};
    if (!(*saved)->has_summary) {
        tell_note(verbosity,
                  fmt::format("{} has no summary: it was cut, or is still being written; what was "
                              "counted and summed is missing",
                              file));
    }
    int text_fd = report.json == "-" ? -1 : STDOUT_FILENO;
    bool has_findings = false;
    Result<std::unique_ptr<Output>> output = Output::open(report, text_fd, has_findings);
    if (!output) return tell(output.error());
    auto done = (*output)->show((*saved)->profile);
    if (!done) return tell(done.error());
    return has_findings ? kExitFindings : 0;
}

}  // namespace mlbcc::trace
