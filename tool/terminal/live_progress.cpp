#include "terminal/live_progress.h"

#include <unistd.h>

namespace mlbcc::terminal {

std::unique_ptr<LiveProgress>
LiveProgress::open(Where where, std::optional<std::chrono::nanoseconds> every, uint64_t start_ns) {
    std::unique_ptr<StatusLine> line =
        where == Where::line ? StatusLine::open(STDERR_FILENO) : nullptr;
    if (!line && where != Where::screen) return nullptr;
    const auto every_ns = static_cast<uint64_t>(every.value_or(kEvery).count());
    return std::unique_ptr<LiveProgress>(new LiveProgress(std::move(line), start_ns, every_ns));
}

void LiveProgress::event(const event::Event& event) {
    progress_.add(reader_.read(event, start_ns_));
}

void LiveProgress::work(uint64_t now_ns) {
    if (!line_ || now_ns < next_ns_) return;
    next_ns_ = now_ns + every_ns_;
    line_->show(progress_.text(now_ns - start_ns_));
}

}  // namespace mlbcc::terminal
