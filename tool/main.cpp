// The command line, read and run; nothing else.
#include <exception>

#include "base/as_caller.h"
#include "cli/command_line.h"
#include "process/inherited.h"
#include "text/output.h"
#include "text/tell.h"

namespace {

// What no part of the pipeline has an answer to: there is no memory, or no folder to be in.
int run_guarded(const mlbcc::CommandLine& line) {
    try {
        return mlbcc::run(line);
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
