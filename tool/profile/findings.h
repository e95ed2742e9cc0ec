// What a job did that a model has no business doing. Rules say what that is: each event of type
// `finding` is one (rules/profile_security.rules, docs/profile.md):
//
//   event finding.secret(severity = "high", what = "read {path}", why = "...", path = ...)
//
// Of a process it is known which weights it, or whoever started it, had opened before.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/process_tree.h"
#include "profile/section.h"
#include "saved/event_fields.h"

namespace mlbcc::profile {

enum class Severity { info, low, medium, high };
inline constexpr Severity kSeverities[] = {Severity::high, Severity::medium, Severity::low,
                                           Severity::info};
std::string_view name_of(Severity severity);
std::optional<Severity> severity_of(std::string_view name);

struct Finding {
    Severity severity{};
    std::string kind, what, why;  // kind: the name behind `finding.`
    uint64_t time_ns = 0;         // of the first one, since the trace began
    uint64_t times = 0;
    uint32_t pid = 0, tid = 0;
    std::string thread;              // its name
    std::vector<std::string> stack;  // innermost first; else of who started the process
    std::string weights;             // the last weights that were opened before, "" for none
    std::vector<std::pair<std::string, std::string>> values;  // the rule's others
};

struct FindingReport {
    std::vector<Finding> findings;  // the worst first, then as they came
    uint64_t left_out = 0;          // there were too many different ones
    std::optional<Severity> worst() const;
    bool reaches(Severity severity) const { return worst() >= severity; }
};

// Whom paths of rules are about: "." is the folder that the command was started in, "~" its home.
struct Surroundings {
    std::string folder, home;  // "": not known
};

class Findings {
public:
    void add(const saved::EventFields& one);
    FindingReport report(const std::vector<ProcessLife>& lives,
                         const Surroundings& surroundings) const;

private:
    struct Candidate {
        Finding finding;
        std::string after_weights;  // its severity where weights were opened before, or ""
        std::string path, not_in;
        bool is_elsewhere = false;  // `path` is relative to a folder that is not known
    };
    struct Process {
        std::vector<std::pair<uint64_t, std::string>> weights, folders;  // opened, gone to: when
        std::vector<std::string> maker_stack;
    };
    using Lives = std::map<uint32_t, const ProcessLife*>;
    using Key = std::tuple<std::string, uint32_t, std::string, size_t>;

    void add_process(const saved::EventFields& one);
    void add_finding(const saved::EventFields& one);
    void complete(const Candidate& candidate, const Lives& lives, Finding& finding) const;
    bool is_allowed(const Candidate& candidate, const Lives& lives,
                    const Surroundings& surroundings) const;
    std::string last_of(std::vector<std::pair<uint64_t, std::string>> Process::*list, uint32_t pid,
                        uint64_t time_ns, const Lives& lives) const;

    std::map<uint32_t, Process> processes_;
    std::map<Key, size_t> known_;  // to an index of:
    std::vector<Candidate> candidates_;
    uint64_t left_out_ = 0;
};

void add_rows(sink::Rows& rows, const FindingReport& report);
void add_members(JsonWriter& json, const FindingReport& report);

}  // namespace mlbcc::profile
