#include "process/inherited.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace mlbcc::process {

Inherited set_right() {
    for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0) continue;
        // The lowest number that is free is this one.
        (void)::open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    }
    std::signal(SIGXFSZ, SIG_IGN);
    return {std::signal(SIGCHLD, SIG_DFL) == SIG_IGN};
}

}  // namespace mlbcc::process
