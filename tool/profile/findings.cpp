#include "profile/findings.h"

#include <fcntl.h>

#include <algorithm>

#include <fmt/format.h>

#include "phases/file_group.h"
#include "profile/finding_text.h"
#include "text/terminal_text.h"

namespace mlbcc::profile {
namespace {

constexpr size_t kMost = 2000;    // different ones
constexpr int kGenerations = 64;  // of processes that started one another
constexpr std::string_view kOwn[] = {"severity", "after_weights", "what",   "why",        "not_in",
                                     "of",       "only",          "except", "relative_to"};

bool is_regular_name(std::string_view path) {
    return !path.starts_with("/proc/") && !path.starts_with("/dev/") && !path.starts_with("/sys/");
}

// Where the rule has lists of what is one, or is none.
bool is_meant(const saved::EventFields& one) {
    std::string of = filled(one.text("of"), one);
    if (one.has("only") && !matches_one(of, one.text("only"))) return false;
    return !one.has("except") || !matches_one(of, one.text("except"));
}

const ProcessLife* life_of(const std::map<uint32_t, const ProcessLife*>& lives, uint32_t pid) {
    auto found = lives.find(pid);
    return found == lives.end() ? nullptr : found->second;
}

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

std::string_view name_of(Severity severity) {
    switch (severity) {
    case Severity::info: return "info";
    case Severity::low: return "low";
    case Severity::medium: return "medium";
    case Severity::high: return "high";
    }
    return "";
}

std::optional<Severity> severity_of(std::string_view name) {
    for (Severity severity : kSeverities) {
        if (name_of(severity) == name) return severity;
    }
    return {};
}

std::optional<Severity> FindingReport::worst() const {
    if (findings.empty()) return {};
    return findings.front().severity;
}

void Findings::add(const saved::EventFields& one) {
    if (one.type == "finding") return add_finding(one);
    if (one.type == "process") return add_process(one);
    if (one.type != "file" || one.name != "open") return;
    std::string_view path = one.text("path");
    bool is_read = (one.number("flags") & O_ACCMODE) != O_WRONLY;
    if (is_read && is_regular_name(path) && phases::group_of(path) == phases::FileGroup::weights) {
        processes_[one.pid].weights.emplace_back(one.time_ns, path);
    }
}

void Findings::add_process(const saved::EventFields& one) {
    if (one.name == "folder") {
        auto& folders = processes_[one.pid].folders;
        std::string from = folders.empty() ? "" : folders.back().second;
        folders.emplace_back(one.time_ns, absolute(one.text("path"), from));
    }
    if (one.name == "clone" && !one.stack.empty()) {
        auto child = static_cast<uint32_t>(one.number("child"));
        processes_[child].maker_stack.assign(one.stack.begin(), one.stack.end());
    }
}

// The same of one process, before the next weights are opened, counts as one.
void Findings::add_finding(const saved::EventFields& one) {
    if (!is_meant(one)) return;
    std::string what = filled(one.has("what") ? one.text("what") : one.name, one);
    Key key(one.name, one.pid, what, processes_[one.pid].weights.size());
    auto [known, is_new] = known_.try_emplace(key, candidates_.size());
    if (!is_new) {
        ++candidates_[known->second].finding.times;
        return;
    }
    if (candidates_.size() == kMost) {
        known_.erase(known);
        ++left_out_;
        return;
    }
    Candidate& made = candidates_.emplace_back();
    Finding& finding = made.finding;
    finding.severity = severity_of(one.text("severity")).value_or(Severity::medium);
    finding.kind = one.name;
    finding.what = std::move(what);
    finding.why = one.text("why");
    finding.time_ns = one.time_ns;
    finding.times = 1;
    finding.pid = one.pid;
    finding.tid = one.tid;
    finding.thread = one.comm;
    finding.stack.assign(one.stack.begin(), one.stack.end());
    for (const saved::EventFields::Argument& argument : one.arguments) {
        bool is_own = std::ranges::find(kOwn, argument.name) != std::ranges::end(kOwn);
        if (!is_own && !argument.value.is_null())
            finding.values.emplace_back(argument.name, value_text(argument.value));
    }
    made.after_weights = one.text("after_weights");
    made.path = one.text("path");
    made.not_in = one.text("not_in");
    bool is_relative = !made.path.starts_with('/');
    made.is_elsewhere =
        is_relative && one.has("relative_to") && one.number("relative_to") != AT_FDCWD;
}

// Of the process before `time_ns`, else of who started it before it did.
std::string Findings::last_of(std::vector<std::pair<uint64_t, std::string>> Process::*list,
                              uint32_t pid, uint64_t time_ns, const Lives& lives) const {
    for (int i = 0; i < kGenerations; ++i) {
        if (auto found = processes_.find(pid); found != processes_.end()) {
            const auto& all = found->second.*list;
            auto later = std::ranges::upper_bound(all, time_ns, {},
                                                  [](const auto& one) { return one.first; });
            if (later != all.begin()) return std::prev(later)->second;
        }
        const ProcessLife* life = life_of(lives, pid);
        if (life == nullptr || life->parent == 0) return "";
        time_ns = std::min(time_ns, life->begin_ns);
        pid = life->parent;
    }
    return "";
}

bool Findings::is_allowed(const Candidate& candidate, const Lives& lives,
                          const Surroundings& surroundings) const {
    const Finding& finding = candidate.finding;
    // That the traced command begins.
    const ProcessLife* life = life_of(lives, finding.pid);
    bool is_start =
        life != nullptr && life->begin_ns == finding.time_ns && !lives.contains(life->parent);
    if (is_start) return true;
    if (candidate.not_in.empty() || candidate.is_elsewhere) return false;
    std::string folder = last_of(&Process::folders, finding.pid, finding.time_ns, lives);
    folder = absolute(folder.empty() ? "." : folder, surroundings.folder);
    std::string path = absolute(candidate.path, folder);
    if (path.empty()) return !candidate.path.starts_with("..");
    return lies_in(path, candidate.not_in, surroundings.folder, surroundings.home);
}

void Findings::complete(const Candidate& candidate, const Lives& lives, Finding& finding) const {
    finding.weights = last_of(&Process::weights, finding.pid, finding.time_ns, lives);
    if (!finding.weights.empty()) {
        finding.severity = severity_of(candidate.after_weights).value_or(finding.severity);
    }
    uint32_t pid = finding.pid;
    for (int i = 0; i < kGenerations && finding.stack.empty(); ++i) {
        if (auto found = processes_.find(pid); found != processes_.end()) {
            finding.stack = found->second.maker_stack;
        }
        const ProcessLife* life = life_of(lives, pid);
        if (life == nullptr || life->parent == 0) return;
        pid = life->parent;
    }
}

FindingReport Findings::report(const std::vector<ProcessLife>& lives,
                               const Surroundings& surroundings) const {
    Lives by_pid;
    for (const ProcessLife& life : lives) by_pid[life.pid] = &life;
    FindingReport report;
    report.left_out = left_out_;
    for (const Candidate& candidate : candidates_) {
        if (is_allowed(candidate, by_pid, surroundings)) continue;
        complete(candidate, by_pid, report.findings.emplace_back(candidate.finding));
    }
    std::ranges::stable_sort(report.findings, [](const Finding& a, const Finding& b) {
        return a.severity != b.severity ? a.severity > b.severity : a.time_ns < b.time_ns;
    });
    return report;
}

static void add_members(JsonWriter& json, const Finding& finding) {
    member(json, "severity", name_of(finding.severity));
    member(json, "kind", finding.kind);
    member(json, "what", finding.what);
    member(json, "why", finding.why);
    member(json, "time_ns", finding.time_ns);
    member(json, "times", finding.times);
    member(json, "pid", finding.pid);
    member(json, "tid", finding.tid);
    member(json, "thread", finding.thread);
    member(json, "after_weights",
           finding.weights.empty() ? std::optional<std::string>() : finding.weights);
    member(json, "stack", finding.stack);
    json.Key("values");
    json.StartObject();
    for (const auto& [name, value] : finding.values) member(json, name.c_str(), value);
    json.EndObject();
}

void add_members(JsonWriter& json, const FindingReport& report) {
    std::optional<std::string> worst;
    if (report.worst()) worst = name_of(*report.worst());
    member(json, "worst", worst);
    member(json, "left_out", report.left_out);
    member(json, "findings", report.findings);
}

void add_rows(sink::Rows& rows, const FindingReport& report) {
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
