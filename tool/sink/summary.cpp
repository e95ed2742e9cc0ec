#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/write_all.h"
#include "sink/emphasis.h"
#include "sink/layers.h"
#include "sink/sink.h"
#include "sink/summary_text.h"

namespace mlbcc::sink {
namespace {

constexpr size_t kUsualWidth = 100, kLeastWidth = 80, kMostWidth = 120;

class Summary : public Sink {
public:
    Summary(int fd, uint64_t start_ns, const plan::Plan& plan)
        : fd_(fd), start_ns_(start_ns), plan_(&plan) {}

    Result<void> finish(const TraceEnd& end, uint64_t /*event_id*/) override {
        const std::string text =
            summary_text(end, start_ns_, layers_of(*plan_), terminal_width(fd_));
        // Nobody could be told that standard error takes nothing.
        if (write_all(fd_, as_shown_on(fd_, text)) || fd_ == STDERR_FILENO) return {};
        return system_error("cannot write the summary");
    }
    void reload(const Reload& change, uint64_t /*event_id*/) override { plan_ = change.plan; }

private:
    int fd_;  // the caller's
    uint64_t start_ns_;
    const plan::Plan* plan_;
};

}  // namespace

size_t terminal_width(int fd) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
    return std::clamp<size_t>(size.ws_col, kLeastWidth, kMostWidth);
}

bool wants_color(int fd) {
    const char* none = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
    return ::isatty(fd) == 1 && !is_dumb && (none == nullptr || *none == '\0');
}

std::string as_shown_on(int fd, std::string_view text) {
    return wants_color(fd) ? emphasized(text) : std::string(text);
}

std::unique_ptr<Sink> make_summary(int fd, const TraceInfo& info, const plan::Plan& plan) {
    return std::make_unique<Summary>(fd, info.start_ns, plan);
}

}  // namespace mlbcc::sink
