#include "terminal/guard.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

#include "base/capabilities.h"

namespace mlbcc::terminal {
namespace {

constexpr char kInUse = 'u', kInOrder = 'o';  // what the guard is told; nothing more where killed

// Only what is safe between fork and exec: the tracer may have threads. In a session of its own no
// signal of the terminal's reaches it. The end of the pipe wakes it just before the shell is told
// that the tracer has ended: what the shell then writes must find the usual screen.
[[noreturn]] void guard(int terminal, int alive, const termios& modes, const std::string& leave) {
    ::setsid();
    ::dup2(terminal, 0);
    ::dup2(alive, 1);
    ::close_range(2, ~0u, 0);
    const sched_param first{.sched_priority = 1};
    (void)::sched_setscheduler(0, SCHED_FIFO, &first);
    (void)keep_capabilities({});
    char said = 0;
    bool in_use = false;
    while (::read(1, &said, 1) == 1 && said == kInUse) in_use = true;
    if (in_use && said != kInOrder) {
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

void TerminalGuard::begin() {
    tell(kInUse);
}

void TerminalGuard::tell(char what) const {
    if (pid_ < 0) return;
    [[maybe_unused]] ssize_t written = ::write(alive_.get(), &what, 1);
}

TerminalGuard::~TerminalGuard() {
    if (pid_ < 0) return;
    tell(kInOrder);
    ::waitpid(pid_, nullptr, 0);
}

}  // namespace mlbcc::terminal
