// The command line as plain option structs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "session/options.h"

namespace mlbcc {

enum class Command {
    trace,
    profile,
    serve,
    top,
    check,
    list,
    explain,
    emit,
    rules,
    report,
    convert,
    timeline,
    doctor,
    headers
};

struct CommandLine {
    Command command = Command::trace;
    session::TraceOptions options;
    session::ProfileOptions profile;
    session::ServeOptions serve;
    std::string pattern;   // list
    std::string file;      // report, convert, timeline
    bool json = false;     // doctor
    bool compile = false;  // check
    commands::EmitOptions emit;
    commands::HeadersOptions headers;
    commands::ConvertOptions convert;
    commands::TimelineOptions timeline;
    std::optional<view::CallSelection> calls;  // report
};

// Either a command line to run, or the status to exit with (after --help, or a mistake that has
// been told on standard error).
struct Parsed {
    std::optional<CommandLine> line;
    int status = 0;
};
Parsed parse_command_line(int argc, char** argv);

}  // namespace mlbcc
