#include "doctor/doctor.h"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

#include "doctor/checks.h"
#include "doctor/text.h"
#include "sink/summary_text.h"
#include "text/output.h"

namespace mlbcc::doctor {
namespace {

constexpr const char* kUsualRules = "cuda";

}  // namespace

int run_doctor(const session::TraceOptions& options, bool json) {
    session::TraceOptions asked = options;
    if (asked.rules.rules.empty()) asked.rules.rules = {kUsualRules};
    const bool were_named = !options.rules.rules.empty();
    Facts found = examine_machine(asked.targets.pids, asked.output.trace);
    found.rules.were_named = were_named;
    examine_rules(asked, found);
    const std::vector<Row> rows = judge(found);
    print_output("{}", json ? doctor_json(found, rows)
                            : doctor_text(found, rows, sink::wants_color(STDOUT_FILENO)));
    return would_work(rows) ? 0 : kExitFailure;
}

}  // namespace mlbcc::doctor
