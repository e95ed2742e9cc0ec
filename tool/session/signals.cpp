#include "session/signals.h"

#include <sys/signalfd.h>

#include <csignal>

namespace mlbcc::session {
namespace {

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t interrupts() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : kInterrupts) sigaddset(&set, signal);
    return set;
}

}  // namespace

Result<Signals> Signals::block() {
    sigset_t set = interrupts();
    Signals made;
    if (sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return system_error("cannot block signals");
    made.fd_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!made.fd_) return system_error("cannot make a signalfd");
    return made;
}

std::optional<Interrupt> Signals::next() {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
    const bool is_of_group =
        info.ssi_code == SI_KERNEL || info.ssi_pid == static_cast<uint32_t>(::getpid());
    return Interrupt{static_cast<int>(info.ssi_signo), is_of_group};
}

void Signals::let_through(bool forgive_one) {
    struct sigaction action {};
    action.sa_handler = forgive_one ? [](int) {} : SIG_DFL;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigset_t set = interrupts();
    for (int signal : kInterrupts) sigaction(signal, &action, nullptr);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace mlbcc::session
