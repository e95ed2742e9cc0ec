// Findings to verdicts, one row a check: what was looked at, what it is, whether that is good, and
// where it is not, why, and the one command or flag that repairs it. Pure: made-up findings do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/findings.h"

namespace mlbcc::doctor {

// A trace with these rules does not work where there is a fault; a note is something that is
// missing or unusual, which it does without.
enum class State { ok, note, fault };

struct Verdict {
    State state = State::ok;
    std::string found;
    std::string why, repair;   // of notes and faults; "" where nothing can be said
    std::string subject = {};  // in place of the check's title, where it has several rows
};

struct Row {
    std::string_view id;  // stable
    std::string title;
    Verdict verdict;
};
std::vector<Row> judge(const Facts& found);

bool would_work(const std::vector<Row>& rows);  // no fault

}  // namespace mlbcc::doctor
