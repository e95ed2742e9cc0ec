// The command line as plain option structs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/convert.h"
#include "trace/options.h"
#include "trace/report.h"
#include "trace/timeline.h"

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
    trace::TraceOptions options;
    trace::ProfileOptions profile;
    trace::ServeOptions serve;
    std::string pattern;   // list
    std::string file;      // report, convert, timeline
    bool json = false;     // doctor
    bool compile = false;  // check
    trace::EmitOptions emit;
    trace::HeadersOptions headers;
    trace::ConvertOptions convert;
    trace::TimelineOptions timeline;
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
