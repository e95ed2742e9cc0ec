#include "exports/prometheus.h"

#include <linux/capability.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include "base/threads.h"
#include "process/capabilities.h"

namespace mlbcc::exports {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);  // for a page: then it is the one before

// :9435 -> 127.0.0.1:9435. The server would take more than an address: lists, and TLS.
std::optional<std::string> listening(const std::string& address) {
    const size_t colon = address.rfind(':');
    if (colon == std::string::npos) return {};
    const std::string host = address.substr(0, colon), port = address.substr(colon + 1);
    unsigned number = 0;
    auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535)
        return {};
    if (host.find_first_not_of("0123456789abcdefABCDEF.:[]") != std::string::npos) return {};
    return (host.empty() ? "127.0.0.1" : host) + ":" + port;
}

}  // namespace

class PageShelf : public prometheus::Collectable {
public:
    std::vector<prometheus::MetricFamily> Collect() const override {
        std::unique_lock lock(mutex_);
        const uint64_t before = pages_;
        is_wanted_ = true;
        given_.wait_for(lock, kPatience, [&] { return is_closed_ || pages_ != before; });
        return page_;
    }
    bool is_wanted() const {
        std::unique_lock lock(mutex_);
        return is_wanted_;
    }
    void give(std::vector<prometheus::MetricFamily> page) {
        std::unique_lock lock(mutex_);
        page_ = std::move(page);
        ++pages_;
        is_wanted_ = false;
        given_.notify_all();
    }
    void close() {
        std::unique_lock lock(mutex_);
        is_closed_ = true;
        given_.notify_all();
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable given_;
    mutable bool is_wanted_ = false;
    bool is_closed_ = false;
    uint64_t pages_ = 0;
    std::vector<prometheus::MetricFamily> page_;
};

struct Exporter::Server {
    // Clients that say nothing have a thread for two seconds at most, and none of the tracer's.
    explicit Server(const std::string& address)
        : exposer({"listening_ports", address, "num_threads", "4", "request_timeout_ms", "2000"}) {}
    prometheus::Exposer exposer;
};

Exporter::Exporter(std::shared_ptr<PageShelf> shelf, std::unique_ptr<Server> server)
    : shelf_(std::move(shelf)), server_(std::move(server)) {
    server_->exposer.RegisterCollectable(shelf_);
}

Exporter::~Exporter() {
    shelf_->close();
}

Result<std::unique_ptr<Exporter>> Exporter::open(const std::string& address) {
    std::optional<std::string> at = listening(address);
    if (!at) {
        return Error{fmt::format("--prometheus: `{}` is not an address", address), 0,
                     "write :9435, or 0.0.0.0:9435 for other machines, too"};
    }
    std::unique_ptr<Server> server;
    try {  // its threads may do what the one may that makes them
        server = on_a_thread([&at] {
                     (void)keep_capabilities(Capabilities{CAP_NET_BIND_SERVICE} &
                                             effective_capabilities());
                     return std::make_unique<Server>(*at);
                 }).get();
    } catch (const std::exception& e) {
        return Error{fmt::format("--prometheus: cannot listen at {}: {}", *at, e.what()), 0,
                     "if another program has this port, choose another: --prometheus :9436"};
    }
    auto made =
        std::unique_ptr<Exporter>(new Exporter(std::make_shared<PageShelf>(), std::move(server)));
    made->url_ = fmt::format("http://{}/metrics", *at);
    return made;
}

bool Exporter::is_page_wanted() const {
    return shelf_->is_wanted();
}

void Exporter::give(std::vector<prometheus::MetricFamily> page) {
    shelf_->give(std::move(page));
}

}  // namespace mlbcc::exports
