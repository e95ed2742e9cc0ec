#include "terminal/status_line.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace mlbcc::terminal {
namespace {

constexpr uint16_t kLeastRows = 4, kLeastColumns = 20;
constexpr int kPatienceMs = 200;  // for a terminal that takes nothing

// Writes as a whole or not at all, but for a terminal that is full in the middle of it.
void put(int fd, const std::string& text) {
    [[maybe_unused]] ssize_t written = ::write(fd, text.data(), text.size());
}

// Down and up again: there is room below the cursor then, whose column stays. 7 and 8 keep the
// place of the cursor, which `r` changes.
std::string leave_last_row(uint16_t rows) {
    return fmt::format("\033D\033[A\0337\033[1;{}r\0338", rows - 1);
}
std::string on_row(uint16_t row, const std::string& text) {
    return fmt::format("\0337\033[{};1H\033[K{}\0338", row, text);
}

}  // namespace

std::unique_ptr<StatusLine> StatusLine::open(int fd) {
    const char* term = std::getenv("TERM");
    if (::isatty(fd) != 1 || term == nullptr || std::string_view(term) == "dumb") return nullptr;
    UniqueFd own(::open(fmt::format("/proc/self/fd/{}", fd).c_str(),
                        O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!own) return nullptr;
    return std::unique_ptr<StatusLine>(new StatusLine(fd, std::move(own)));
}

// In the background, writing may stop the writer (TOSTOP).
bool StatusLine::is_free() const {
    termios modes{};
    pid_t foreground = ::tcgetpgrp(fd_);
    bool ours = foreground < 0 || foreground == ::getpgrp();
    return ours && ::tcgetattr(fd_, &modes) == 0 && (modes.c_lflag & ICANON) != 0;
}

void StatusLine::show(const std::string& text) {
    winsize size{};
    bool fits = ::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_row >= kLeastRows &&
                size.ws_col >= kLeastColumns;
    if (!fits || !is_free()) return remove();
    std::string out;
    if (rows_ != size.ws_row) {
        remove();
        rows_ = size.ws_row;
        out = leave_last_row(rows_);
    }
    put(own_.get(), out + on_row(rows_, text.substr(0, size.ws_col - 1u)));
}

void StatusLine::remove() {
    if (rows_ == 0) return;
    pollfd room{own_.get(), POLLOUT, 0};
    ::poll(&room, 1, kPatienceMs);
    put(own_.get(), on_row(rows_, "\033[r"));
    rows_ = 0;
}

}  // namespace mlbcc::terminal
