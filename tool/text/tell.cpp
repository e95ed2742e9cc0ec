#include "text/tell.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "text/output.h"
#include "text/terminal_text.h"

namespace mlbcc {

static const char* help_on(int code) {
    return code == EMFILE ? "allow more open files: `ulimit -n 65536`" : "";
}

int tell(const Error& error) {
    print_error("error: {}\n", lines_on_terminal(error.message()));
    const std::string help = error.help.empty() ? help_on(error.code) : error.help;
    if (!help.empty()) print_error("   = help: {}\n", lines_on_terminal(help));
    return kExitFailure;
}

Error unexpected(const std::exception& thrown) {
    const auto* of_system = dynamic_cast<const std::system_error*>(&thrown);
    return {thrown.what(), 0, of_system ? help_on(of_system->code().value()) : ""};
}

int tell(const std::exception& thrown) {
    return tell(unexpected(thrown));
}

bool tell(const Diagnostics& diagnostics, Verbosity verbosity, bool asides) {
    bool shown = diagnostics.has_errors() || verbosity != Verbosity::quiet;
    const bool all = asides || verbosity == Verbosity::verbose;
    if (shown) print_error("{}", diagnostics.render({::isatty(STDERR_FILENO) == 1, all}));
    return diagnostics.has_errors();
}

void tell_note(Verbosity verbosity, const std::string& text) {
    if (verbosity != Verbosity::quiet) print_error("mlbcc: {}\n", lines_on_terminal(text));
}

}  // namespace mlbcc
