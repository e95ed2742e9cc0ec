// How a trace's user ends it: signals, and the keys of the live view.
#include <unistd.h>

#include <csignal>

#include "trace/clock.h"
#include "trace/session.h"

namespace mlbcc::trace {

// `q` is Ctrl-C: the whole foreground group gets it.
void Session::attend_screen(uint64_t now_ns) {
    auto look = [&] {
        return LiveScreen::Now{trace_end(End::none), progress_ ? progress_->facts(now_ns) : ""};
    };
    if (screen_->work(now_ns, look)) return;
    ::kill(command_ ? 0 : ::getpid(), SIGINT);
}

void Session::leave_screen() {
    if (screen_ == nullptr) return;
    screen_->end();
    if (command_ && !command_status_) screen_->output().leave_file();
}

// Ctrl-C at a terminal reaches the command, too; a signal that only the tracer got is passed on.
void Session::handle_interrupts() {
    while (auto interrupt = signals_->next()) {
        if (options_.reloadable && interrupt->signal == SIGHUP && !interrupt->from_terminal) {
            reloader_.ask("SIGHUP");
            continue;
        }
        ++interrupts_;
        interrupted_ns_ = monotonic_ns();
        if (command_ && !command_status_ && !interrupt->from_terminal) {
            ::kill(command_->pid(), interrupt->signal);
        }
    }
}

}  // namespace mlbcc::trace
