// Which part of the pipeline each subcommand needs; nothing else.
#include "cli/command_line.h"
#include "trace/commands.h"
#include "trace/convert.h"
#include "trace/doctor.h"
#include "trace/headers.h"
#include "trace/profile.h"
#include "trace/report.h"
#include "trace/serve.h"
#include "trace/timeline.h"
#include "trace/trace.h"

int main(int argc, char** argv) {
    mlbcc::Parsed parsed = mlbcc::parse_command_line(argc, argv);
    if (!parsed.line) return parsed.status;
    const mlbcc::CommandLine& line = *parsed.line;
    switch (line.command) {
    case mlbcc::Command::trace:
    case mlbcc::Command::top: return mlbcc::trace::run_trace(line.options);
    case mlbcc::Command::profile: return mlbcc::trace::run_profile(line.options);
    case mlbcc::Command::serve: return mlbcc::trace::run_serve(line.options);
    case mlbcc::Command::check: return mlbcc::trace::run_check(line.options, line.compile);
    case mlbcc::Command::list: return mlbcc::trace::run_list(line.options, line.pattern);
    case mlbcc::Command::explain: return mlbcc::trace::run_explain(line.options, line.pattern);
    case mlbcc::Command::emit: return mlbcc::trace::run_emit(line.options, line.emit);
    case mlbcc::Command::rules: return mlbcc::trace::run_rules(line.options);
    case mlbcc::Command::headers: return mlbcc::trace::run_headers(line.options, line.headers);
    case mlbcc::Command::report:
        return mlbcc::trace::run_report(line.file, line.calls, line.options);
    case mlbcc::Command::convert:
        return mlbcc::trace::run_convert(line.file, line.convert, line.options);
    case mlbcc::Command::timeline:
        return mlbcc::trace::run_timeline(line.file, line.timeline, line.options);
    case mlbcc::Command::doctor: return mlbcc::trace::run_doctor(line.options, line.json);
    }
    return mlbcc::trace::kExitUsage;
}
