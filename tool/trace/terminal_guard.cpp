#include "trace/terminal_guard.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

namespace mlbcc::trace {
namespace {

// Only what is safe between fork and exec: the tracer may have threads. In a session of its own no
// signal of the terminal's reaches it.
[[noreturn]] void guard(int terminal, int alive, const termios& modes, const std::string& leave) {
    ::setsid();
    ::dup2(terminal, 0);
    ::dup2(alive, 1);
    ::close_range(2, ~0u, 0);
    char byte = 0;
    if (::read(1, &byte, 1) == 0) {
        ::tcsetattr(0, TCSANOW, &modes);
        [[maybe_unused]] ssize_t written = ::write(0, leave.data(), leave.size());
    }
    ::_exit(0);
}

}  // namespace

TerminalGuard::TerminalGuard(int terminal, const std::string& leave) {
    int ends[2];
    termios modes{};
    if (::tcgetattr(terminal, &modes) != 0 || ::pipe2(ends, O_CLOEXEC) != 0) return;
    UniqueFd read_end(ends[0]);
    alive_.reset(ends[1]);
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_ = ::fork();
    if (pid_ == 0) guard(terminal, read_end.get(), modes, leave);
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

TerminalGuard::~TerminalGuard() {
    if (pid_ < 0) return;
    [[maybe_unused]] ssize_t written = ::write(alive_.get(), "", 1);
    ::waitpid(pid_, nullptr, 0);
}

}  // namespace mlbcc::trace
