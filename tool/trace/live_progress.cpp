#include "trace/live_progress.h"

#include <unistd.h>

namespace mlbcc::trace {

std::unique_ptr<LiveProgress> LiveProgress::open(const TraceOptions& options, uint64_t start_ns) {
    const auto* profile = std::get_if<ProfileOptions>(&options.purpose);
    if (profile == nullptr) return nullptr;
    bool wanted =
        !options.screen.live && profile->progress && options.verbosity != Verbosity::quiet;
    std::unique_ptr<StatusLine> line = wanted ? StatusLine::open(STDERR_FILENO) : nullptr;
    if (!line && !options.screen.live) return nullptr;
    const auto every_ns = static_cast<uint64_t>(options.screen.refresh.value_or(kEvery).count());
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

}  // namespace mlbcc::trace
