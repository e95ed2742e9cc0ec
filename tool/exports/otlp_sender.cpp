#include "exports/otlp_sender.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/threads.h"
#include "exports/http_post.h"
#include "process/capabilities.h"

namespace mlbcc::exports {
namespace {

constexpr size_t kMostWaiting = 64;
constexpr std::chrono::milliseconds kLastPatience{6000}, kBetween{300};

struct Post {
    const char* path = nullptr;
    std::string body;
};

}  // namespace

struct OtlpSender::Shared {
    std::unique_ptr<HttpPost> collector;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Post> waiting;
    bool is_busy = false, is_over = false;
    uint64_t posted = 0, refused = 0, dropped = 0;
    std::string why;  // the last one was refused

    void run();
};

// Twice, at most: the numbers of the next page have those of this one in them.
void OtlpSender::Shared::run() {
    leave_signals_alone();
    (void)keep_capabilities({});
    std::unique_lock lock(mutex);
    while (true) {
        changed.wait(lock, [&] { return is_over || !waiting.empty(); });
        if (waiting.empty()) return;
        const Post one = std::move(waiting.front());
        waiting.pop_front();
        is_busy = true;
        lock.unlock();
        HttpPost::Answer answer = collector->post(one.path, one.body);
        if (answer.again) {
            std::this_thread::sleep_for(kBetween);
            answer = collector->post(one.path, one.body);
        }
        lock.lock();
        is_busy = false;
        ++(answer.refusal.empty() ? posted : refused);
        if (!answer.refusal.empty()) why = std::move(answer.refusal);
        changed.notify_all();
    }
}

OtlpSender::OtlpSender(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {
    std::thread([kept = shared_] { kept->run(); }).detach();
}

OtlpSender::~OtlpSender() {
    const std::unique_lock lock(shared_->mutex);
    shared_->is_over = true;
    shared_->changed.notify_all();
}

Result<std::unique_ptr<OtlpSender>> OtlpSender::open(const std::string& url) {
    Result<std::unique_ptr<HttpPost>> collector = HttpPost::open(url);
    if (!collector) return collector.error();
    auto shared = std::make_shared<Shared>();
    shared->collector = std::move(*collector);
    return std::unique_ptr<OtlpSender>(new OtlpSender(std::move(shared)));
}

void OtlpSender::give(const char* path, std::string body) {
    const std::unique_lock lock(shared_->mutex);
    shared_->waiting.push_back({path, std::move(body)});
    if (shared_->waiting.size() > kMostWaiting) {
        shared_->waiting.pop_front();
        ++shared_->dropped;
    }
    shared_->changed.notify_all();
}

std::optional<std::string> OtlpSender::finish() {
    std::unique_lock lock(shared_->mutex);
    auto is_done = [&] { return shared_->waiting.empty() && !shared_->is_busy; };
    const bool done = shared_->changed.wait_for(lock, kLastPatience, is_done);
    const uint64_t left = done ? 0 : shared_->waiting.size() + (shared_->is_busy ? 1 : 0);
    const uint64_t missing = shared_->refused + shared_->dropped + left;
    if (missing == 0) return {};
    return fmt::format("of {} messages the collector at {} did not take {}: {}",
                       shared_->posted + missing, shared_->collector->place(), missing,
                       shared_->why.empty() ? "it is too slow" : shared_->why);
}

}  // namespace mlbcc::exports
