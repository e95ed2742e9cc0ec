#include <algorithm>

#include <fmt/format.h>

#include "profile/profile_sections.h"
#include "sink/summary_text.h"
#include "text/terminal_text.h"

namespace mlbcc::profile {
namespace {

constexpr size_t kShown = 20, kFrames = 4, kText = 160;

std::string line_of(std::string_view text) {
    return sink::shortened(on_terminal(text), kText);
}

std::string stack_text(const std::vector<std::string>& stack) {
    std::string text;
    for (size_t i = 0; i < std::min(kFrames, stack.size()); ++i) {
        text += (i == 0 ? "" : " < ") + stack[i];
    }
    return text + (stack.size() > kFrames ? " < ..." : "");
}

void add_one(sink::Rows& rows, const Finding& finding) {
    std::string times = finding.times > 1 ? fmt::format(", {} times", finding.times) : "";
    rows.line(
        line_of(fmt::format("  {:<6}  {}{}", name_of(finding.severity), finding.what, times)));
    std::string after =
        finding.weights.empty() ? "" : fmt::format(", after opening {}", finding.weights);
    rows.line(line_of(fmt::format("          {} ({}), at {}{}", finding.thread, finding.tid,
                                  sink::short_duration(finding.time_ns), after)));
    if (!finding.stack.empty()) rows.line(line_of("          in " + stack_text(finding.stack)));
    if (!finding.why.empty()) rows.line("          " + finding.why);
}

}  // namespace

void add_findings(sink::Rows& rows, const Profile& profile) {
    const FindingReport& report = profile.security;
    size_t shown = 0, hints = 0;
    for (const Finding& finding : report.findings) {
        hints += finding.severity == Severity::info ? 1 : 0;
        if (finding.severity != Severity::info && shown++ < kShown) add_one(rows, finding);
    }
    if (shown > kShown) rows.line(fmt::format("  and {} more", shown - kShown));
    if (report.left_out > 0) {
        rows.line(fmt::format("  {} of further kinds were left out", report.left_out));
    }
    std::string of_info =
        hints == 0 ? "" : fmt::format(", {} of severity info", sink::grouped(hints));
    if (shown == 0) rows.line("  no findings above info" + of_info);
    if (shown > 0 && hints > 0) rows.line("  besides" + of_info.substr(1));
}

}  // namespace mlbcc::profile
