#include "terminal/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "text/output.h"
#include "text/tell.h"

namespace mlbcc::terminal {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(300);
constexpr size_t kWidth = 30;  // of the bar, in characters

}  // namespace

ProgressBar::ProgressBar(Verbosity verbosity)
    : wanted_(verbosity != Verbosity::quiet && ::isatty(STDERR_FILENO) == 1) {}

void ProgressBar::end() {
    if (shown_) print_error("\r\033[K");
    shown_ = false;
}

saved::ReadProgress ProgressBar::progress() {
    if (!wanted_) return {};
    return [this](uint64_t done, std::optional<uint64_t> size) { show(done, size); };
}

// [############                  ]  40 %
void ProgressBar::show(uint64_t done, std::optional<uint64_t> size) {
    auto now = std::chrono::steady_clock::now();
    if (now - last_ < kMoment) return;
    last_ = now;
    shown_ = true;
    if (!size || *size == 0) {
        print_error("\r{} MiB read\033[K", done >> 20);
        return;
    }
    double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(*size));
    auto filled = static_cast<size_t>(part * kWidth);
    print_error("\r[{}{}] {:3.0f} %\033[K", std::string(filled, '#'),
                std::string(kWidth - filled, ' '), part * 100);
}

void tell_unread(const saved::ReadLines& read, const std::string& file, Verbosity verbosity) {
    if (read.damaged > 0) {
        tell_note(verbosity,
                  fmt::format("{}: {} left out: not JSON objects", file,
                              read.damaged == 1 ? std::string("1 line was")
                                                : fmt::format("{} lines were", read.damaged)));
    }
    if (read.cut) {
        tell_note(verbosity, file + ": its last line is cut; what is before it was taken");
    }
}

}  // namespace mlbcc::terminal
