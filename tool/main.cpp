// Which part of the pipeline each subcommand needs; nothing else.
#include <exception>

#include "base/as_caller.h"
#include "cli/command_line.h"
#include "commands/commands.h"
#include "doctor/doctor.h"
#include "process/inherited.h"
#include "text/output.h"
#include "text/tell.h"

namespace {

using mlbcc::Command;
namespace commands = mlbcc::commands;

int run(const mlbcc::CommandLine& line) {
    const mlbcc::session::TraceOptions& options = line.options;
    const mlbcc::Verbosity verbosity = options.verbosity;
    switch (line.command) {
    case Command::trace:
    case Command::top: return commands::run_trace(options);
    case Command::profile: return commands::run_profile(options, line.profile);
    case Command::serve: return commands::run_serve(options, line.serve);
    case Command::check: return commands::run_check(options, line.compile);
    case Command::list: return commands::run_list(options.rules, verbosity, line.pattern);
    case Command::explain: return commands::run_explain(options.rules, verbosity, line.pattern);
    case Command::emit: return commands::run_emit(options, line.emit);
    case Command::rules: return commands::run_rules(options.rules);
    case Command::headers: return commands::run_headers(options.rules, line.headers);
    case Command::report:
        return commands::run_report(line.file, line.calls, options.output, verbosity);
    case Command::convert: return commands::run_convert(line.file, line.convert, verbosity);
    case Command::timeline: return commands::run_timeline(line.file, line.timeline, verbosity);
    case Command::doctor: return mlbcc::doctor::run_doctor(options, line.json);
    }
    return mlbcc::kExitUsage;
}

// Saved traces are read, and their views written, with no more rights than the caller has.
bool needs_rights(Command command) {
    return command != Command::report && command != Command::convert &&
           command != Command::timeline;
}

// What no part of the pipeline has an answer to: there is no memory, or no folder to be in.
int run_guarded(const mlbcc::CommandLine& line) {
    try {
        if (needs_rights(line.command)) return run(line);
        const auto as_caller = mlbcc::AsCaller::begin();
        return as_caller ? run(line) : mlbcc::tell(as_caller.error());
    } catch (const std::exception& error) {
        return mlbcc::tell(error);
    }
}

// A file of options (--config) is the caller's.
mlbcc::Parsed parse(int argc, char** argv) {
    const auto as_caller = mlbcc::AsCaller::begin();
    if (!as_caller) return {{}, mlbcc::tell(as_caller.error())};
    return mlbcc::parse_command_line(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
    const mlbcc::process::Inherited inherited = mlbcc::process::set_right();
    mlbcc::Parsed parsed = parse(argc, argv);
    int status = parsed.status;
    if (parsed.line) {
        parsed.line->options.targets.ignores_children = inherited.children_are_ignored;
        status = run_guarded(*parsed.line);
    }
    if (auto done = mlbcc::finish_output(); !done) {
        mlbcc::tell(done.error());
        if (status == 0) status = mlbcc::kExitFailure;
    }
    return status;
}
