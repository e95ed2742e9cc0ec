#include "text/output.h"

#include <cerrno>
#include <cstdio>

namespace mlbcc {
namespace {

// Why standard output did not take something for the first time, an errno; 0: it took all.
int& first_failure() {
    static int code = 0;
    return code;
}

void check(bool done) {
    if (!done && first_failure() == 0) first_failure() = errno;
}

}  // namespace

void write_output(std::string_view text) {
    check(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void write_error(std::string_view text) {
    check(std::fflush(stdout) == 0);  // both may be one file
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

Result<void> finish_output() {
    check(std::fflush(stdout) == 0);
    if (first_failure() == 0) return {};
    return Error{"cannot write to standard output", first_failure(), ""};
}

}  // namespace mlbcc
