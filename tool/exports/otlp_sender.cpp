#include "exports/otlp_sender.h"

#include <civetweb.h>

#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/threads.h"
#include "process/capabilities.h"

namespace mlbcc::exports {
namespace {

constexpr size_t kMostWaiting = 64;
constexpr int kPatienceMs = 5000;  // for an answer
constexpr std::chrono::milliseconds kLastPatience{6000}, kBetween{300};
constexpr int kDefaultPort = 4318;
constexpr size_t kMessage = 256;

struct Place {
    std::string host, prefix;
    int port = kDefaultPort;
};

// http://collector:4318/prefix
std::optional<Place> place_of(std::string_view url) {
    constexpr std::string_view kScheme = "http://";
    if (!url.starts_with(kScheme)) return {};
    url.remove_prefix(kScheme.size());
    Place place;
    const size_t slash = url.find('/');
    if (slash != url.npos) {
        place.prefix = url.substr(slash);
        while (place.prefix.ends_with('/')) place.prefix.pop_back();
        url = url.substr(0, slash);
    }
    const size_t colon = url.rfind(':');
    if (colon != url.npos && url.find(']', colon) == url.npos) {
        std::string_view port = url.substr(colon + 1);
        auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
        if (error != std::errc() || end != port.data() + port.size()) return {};
        if (place.port <= 0 || place.port > 65535) return {};
        url = url.substr(0, colon);
    }
    place.host = url;
    const bool is_plain = place.host.find_first_of(" \r\n@?#") == std::string::npos &&
                          place.prefix.find_first_of(" \r\n") == std::string::npos;
    if (place.host.empty() || !is_plain) return {};
    return place;
}

struct Post {
    const char* path = nullptr;
    std::string body;
};

// Why it was not taken; "" where it was. `again`: another time it may be.
std::string post(const Place& place, const Post& one, bool& again) {
    std::array<char, kMessage> message{};
    again = true;
    mg_connection* connection =
        mg_connect_client(place.host.c_str(), place.port, 0, message.data(), message.size());
    if (connection == nullptr) return message.data();
    const std::string head = fmt::format(
        "POST {}{} HTTP/1.1\r\nHost: {}:{}\r\nUser-Agent: mlbcc/" MLBCC_VERSION
        "\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        place.prefix, one.path, place.host, place.port, one.body.size());
    bool sent = mg_write(connection, head.data(), head.size()) > 0 &&
                mg_write(connection, one.body.data(), one.body.size()) > 0;
    int answered =
        sent ? mg_get_response(connection, message.data(), message.size(), kPatienceMs) : -1;
    const mg_response_info* info = answered >= 0 ? mg_get_response_info(connection) : nullptr;
    const int status = info == nullptr ? 0 : info->status_code;
    mg_close_connection(connection);
    again = status == 0 || status == 429 || (status >= 502 && status <= 504);
    if (status >= 200 && status < 300) return {};
    return status == 0 ? "it does not answer" : fmt::format("it answers with status {}", status);
}

}  // namespace

struct OtlpSender::Shared {
    Place place;
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
    mg_init_library(0);
    std::unique_lock lock(mutex);
    while (true) {
        changed.wait(lock, [&] { return is_over || !waiting.empty(); });
        if (waiting.empty()) return;
        const Post one = std::move(waiting.front());
        waiting.pop_front();
        is_busy = true;
        lock.unlock();
        bool again = false;
        std::string failure = post(place, one, again);
        if (!failure.empty() && again) {
            std::this_thread::sleep_for(kBetween);
            failure = post(place, one, again);
        }
        lock.lock();
        is_busy = false;
        ++(failure.empty() ? posted : refused);
        if (!failure.empty()) why = failure;
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
    std::optional<Place> place = place_of(url);
    if (!place) {
        return Error{
            fmt::format("--otlp: `{}` is not the address of a collector", url), 0,
            "write http://collector:4318; what needs TLS, a collector beside it passes on"};
    }
    auto shared = std::make_shared<Shared>();
    shared->place = std::move(*place);
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
    return fmt::format("of {} messages the collector at {}:{} did not take {}: {}",
                       shared_->posted + missing, shared_->place.host, shared_->place.port, missing,
                       shared_->why.empty() ? "it is too slow" : shared_->why);
}

}  // namespace mlbcc::exports
