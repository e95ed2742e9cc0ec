// How a trace ends: by signals, and with the status of its command.
#include <poll.h>

#include <csignal>

#include "process/clock.h"
#include "process/process.h"
#include "session/messages.h"
#include "session/session.h"

namespace mlbcc::session {
namespace {

constexpr int kShowEveryMs = 200;  // what a command writes to a terminal that it does not have

}  // namespace

// Ctrl-C at a terminal reaches the command, too; a signal that only the tracer got is passed on.
void Session::handle_interrupts() {
    while (auto interrupt = signals_->next()) {
        if (options_.reload.at_signal && interrupt->signal == SIGHUP && !interrupt->from_terminal) {
            reloader_.ask("SIGHUP");
            continue;
        }
        ++interrupts_;
        interrupted_ns_ = process::monotonic_ns();
        if (command_ && !command_status_ && !interrupt->from_terminal) {
            ::kill(command_->pid(), interrupt->signal);
        }
    }
}

// Of a live view the command has no terminal to write to: what it writes is passed on. A first
// Ctrl-C is the command's, a second one ends the wait.
void Session::await_command() {
    tell_note(options_.verbosity, "the command goes on, untraced; Ctrl-C ends it");
    interrupts_ = 0;
    if (Result<Signals> signals = Signals::block(); signals.ok()) signals_ = std::move(*signals);
    while (!command_ended() && interrupts_ < 2) {
        pollfd waiting[2] = {{signals_->fd(), POLLIN, 0}, {command_->pidfd(), POLLIN, 0}};
        ::poll(waiting, 2, outputs_.screen() == nullptr ? -1 : kShowEveryMs);
        handle_interrupts();
        if (outputs_.screen() != nullptr) outputs_.screen()->output().show_rest();
    }
}

// Where there is no memory, say: the trace ends there, and the command goes on to its own end.
void Session::guarded(const std::function<void()>& work) {
    try {
        work();
    } catch (const std::exception& error) {
        if (!failure_) failure_ = unexpected(error);
    }
}

int Session::status(End end) {
    if (failure_) {
        tell(*failure_);
    } else if (!outputs_.trace_file().empty() && outputs_.trace_file() != "-") {
        tell_note(options_.verbosity, "trace written to " + outputs_.trace_file());
    }
    if (command_ && !command_status_ && end != End::interrupted) await_command();
    if (outputs_.screen() != nullptr && command_ && !command_status_) {
        outputs_.screen()->output().leave_file();
        tell_note(options_.verbosity,
                  "the command's further output goes to " + outputs_.screen()->output().path());
    }
    if (command_status_) tell_signal(options_.verbosity, *command_status_, now_->loaded.probes > 0);
    const int own = command_status_ ? process::exit_status(*command_status_) : 0;
    if (failure_) return own != 0 ? own : kExitFailure;
    if (outputs_.has_findings()) return kExitFindings;
    return command_ && !command_status_ ? 128 + SIGINT : own;
}

}  // namespace mlbcc::session
