#include "terminal/print.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/threads.h"
#include "process/clock.h"
#include "sink/format.h"
#include "sink/output_file.h"

namespace mlbcc::terminal {
namespace {

constexpr size_t kMostBytes = 1u << 20;               // that wait
constexpr uint64_t kLong = 1'000'000'000;             // so long a call is not told of
constexpr std::chrono::milliseconds kPatience{1000};  // at the end, without a line that goes

struct Piece {
    std::string text;    // whole lines
    uint64_t lines = 0;  // without those that tell of lines left out
};

// What the thread has, too, which may outlive the sink: nobody may read what it writes.
struct Shared {
    explicit Shared(sink::OutputFile to) : file(std::move(to)) {}

    sink::OutputFile file;  // the thread's
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Piece> pieces;  // the first is being written if is_busy
    size_t bytes = 0;
    uint64_t left_out = 0, untold = 0;  // lines
    uint64_t written = 0;               // pieces
    bool is_busy = false, is_over = false;
    std::optional<Error> failure;

    void give(const std::string& line) {
        const std::unique_lock lock(mutex);
        if (bytes + line.size() > kMostBytes) {
            ++left_out;
            ++untold;
            return;
        }
        if (uint64_t lines = std::exchange(untold, 0); lines > 0)
            append(fmt::format("--- {} left out: they are not read fast enough ---\n",
                               sink::plural(lines, "line")));
        append(line);
        ++pieces.back().lines;
    }
    void append(const std::string& line) {
        const bool has_room = pieces.size() > (is_busy ? 1 : 0) &&
                              pieces.back().text.size() + line.size() <= PIPE_BUF;
        if (!has_room) pieces.emplace_back();
        pieces.back().text += line;
        bytes += line.size();
    }

    void run() {
        leave_signals_alone();
        std::unique_lock lock(mutex);
        while (true) {
            changed.wait(lock, [&] { return is_over || !pieces.empty(); });
            if (pieces.empty()) return;
            const std::string& piece = pieces.front().text;
            is_busy = true;
            lock.unlock();
            const Result<void> done = file.write(piece);
            lock.lock();
            is_busy = false;
            bytes -= piece.size();
            pieces.pop_front();
            ++written;
            if (!done) failure = done.error();
            changed.notify_all();
            if (!done) return;
        }
    }

    // False: nothing was taken for a while.
    bool drain() {
        std::unique_lock lock(mutex);
        is_over = true;
        changed.notify_all();
        while (!failure && !pieces.empty()) {
            const uint64_t before = written;
            if (!changed.wait_for(lock, kPatience, [&] { return written != before; })) return false;
        }
        return true;
    }
};

class Print : public sink::Sink {
public:
    Print(sink::OutputFile file, terminal::LiveFilter filter, const plan::Plan& plan,
          sink::TellNote note)
        : shared_(std::make_shared<Shared>(std::move(file))),
          long_ns_(std::max(kLong, filter.min_ns)),
          text_(plan, std::move(filter), process::epoch_ns()), note_(std::move(note)) {
        std::thread([kept = shared_] { kept->run(); }).detach();
    }
    ~Print() override {
        const std::unique_lock lock(shared_->mutex);
        shared_->is_over = true;
        shared_->changed.notify_all();
    }
    Print(const Print&) = delete;
    Print& operator=(const Print&) = delete;
    void event(const event::Event& event) override { give(text_.event(event)); }
    void lost(const event::Loss& loss, uint64_t /*event_id*/) override {
        give(terminal::LiveText::lost(loss));
    }
    void reload(const sink::Reload& change, uint64_t /*event_id*/) override {
        if (change.plan != nullptr) text_.changed(*change.plan);
    }
    Result<void> flush() override;
    Result<void> finish(const sink::TraceEnd& end, uint64_t event_id) override;

private:
    void give(const std::string& line) {
        if (!line.empty()) shared_->give(line);
    }

    std::shared_ptr<Shared> shared_;
    uint64_t long_ns_;
    terminal::LiveText text_;
    sink::TellNote note_;
};

Result<void> Print::flush() {
    for (const std::string& line : text_.open_since(process::monotonic_ns() - long_ns_)) give(line);
    const std::unique_lock lock(shared_->mutex);
    if (shared_->failure) return *shared_->failure;
    shared_->changed.notify_all();
    return {};
}

Result<void> Print::finish(const sink::TraceEnd& end, uint64_t /*event_id*/) {
    for (const std::string& line : text_.open_since(end.time_ns)) give(line);
    const bool all_is_read = shared_->drain();
    const std::unique_lock lock(shared_->mutex);
    if (shared_->failure) return *shared_->failure;
    uint64_t lines = shared_->left_out;
    if (!all_is_read)  // a pipe takes a piece whole or not at all
        for (const Piece& piece : shared_->pieces) lines += piece.lines;
    if (lines > 0)
        note_(fmt::format("{} of --print {} left out: standard output was not read fast enough; "
                          "the trace file has all",
                          sink::plural(lines, "line"), lines == 1 ? "was" : "were"));
    return {};
}

}  // namespace

Result<std::unique_ptr<sink::Sink>> open_print(terminal::LiveFilter filter, const plan::Plan& plan,
                                               sink::TellNote note) {
    Result<sink::OutputFile> file = sink::OutputFile::open("-");
    if (!file) return file.error();
    return std::unique_ptr<sink::Sink>(
        std::make_unique<Print>(std::move(*file), std::move(filter), plan, std::move(note)));
}

}  // namespace mlbcc::terminal
