// The command line as plain option structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "commands/commands.h"
#include "session/options.h"

namespace mlbcc {

enum class Command : uint32_t {  // one bit each
    trace = 1 << 0,              // the program itself, without a word for it
    profile = 1 << 1,
    serve = 1 << 2,
    top = 1 << 3,
    check = 1 << 4,
    list = 1 << 5,
    explain = 1 << 6,
    emit = 1 << 7,
    rules = 1 << 8,
    report = 1 << 9,
    convert = 1 << 10,
    timeline = 1 << 11,
    doctor = 1 << 12,
    headers = 1 << 13
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
    view::CallSelection calls;  // report, where it shows them
    bool shows_calls = false;
};

// Either a command line to run, or the status to exit with (after --help, or a mistake that has
// been told on standard error).
struct Parsed {
    std::optional<CommandLine> line;
    int status = 0;
};
Parsed parse_command_line(int argc, char** argv);
int run(const CommandLine& line);  // the exit status

}  // namespace mlbcc
