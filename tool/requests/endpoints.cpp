#include "requests/endpoints.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace mlbcc::requests {
namespace {

constexpr const char* kOther = "other";

size_t alike_as(uint64_t ns) {
    return ns == 0
               ? 0
               : std::min<size_t>(255, static_cast<size_t>(4 * std::log2(static_cast<double>(ns))));
}

size_t hottest(std::array<double, Parts::kMost> parts) {
    for (size_t turn : {Parts::run_queue, Parts::gil})
        parts[Parts::cpu] += std::exchange(parts[turn], 0);
    return static_cast<size_t>(std::ranges::max_element(parts) - parts.begin());
}

void keep_slowest(std::vector<SlowRequest>& slowest, const Request& one) {
    auto at = std::ranges::upper_bound(slowest, one.duration_ns(), std::greater{},
                                       &SlowRequest::duration_ns);
    if (at == slowest.end() && slowest.size() == EndpointUse::kSlowest) return;
    slowest.insert(
        at, {one.begin_ns, one.duration_ns(), one.pid, one.tid, one.status, one.parts, one.places});
    if (slowest.size() > EndpointUse::kSlowest) slowest.pop_back();
}

}  // namespace

void EndpointUse::add(const Request& one, RequestEnd end) {
    if (end == RequestEnd::closed) {
        ++unanswered;
        return;
    }
    if (end == RequestEnd::open) {
        ++open;
        return keep_slowest(longest_open, one);
    }
    ++requests;
    client_errors += one.status >= 400 && one.status < 500 ? 1 : 0;
    server_errors += one.status >= 500 ? 1 : 0;
    bytes_in += one.bytes_in;
    bytes_out += one.bytes_out;
    time_ns += one.duration_ns();
    latency.add(one.duration_ns());
    if (one.marked_ns != 0) work.add(one.work_ns());
    requests::add(calls, one.calls);
    waits_elsewhere += requests::add(places, one.places, kPlaces);
    keep_slowest(slowest, one);
    Alike& like = alike[alike_as(one.duration_ns())];
    ++like.requests;
    for (size_t i = 0; i < Parts::kMost; ++i) {
        parts[i] += one.parts[i];
        like.parts[i] += one.parts[i];
    }
}

size_t EndpointUse::most() const {
    return static_cast<size_t>(std::ranges::max_element(parts) - parts.begin());
}

size_t EndpointUse::hotspot() const {
    std::array<double, Parts::kMost> all{}, growth{};
    std::ranges::copy(parts, all.begin());
    uint64_t median = latency.quantile(0.5), slow = latency.quantile(0.99);
    if (2 * slow < 3 * median) return hottest(all);
    size_t slow_at = alike_as(slow);
    const Alike& usual = alike[alike_as(median)];
    double slow_requests = 0;
    for (size_t at = slow_at; at < alike.size(); ++at) {
        slow_requests += static_cast<double>(alike[at].requests);
        for (size_t i = 0; i < Parts::kMost; ++i)
            growth[i] += static_cast<double>(alike[at].parts[i]);
    }
    if (slow_requests == 0 || usual.requests == 0) return hottest(all);
    for (size_t i = 0; i < Parts::kMost; ++i) {
        growth[i] = growth[i] / slow_requests -
                    static_cast<double>(usual.parts[i]) / static_cast<double>(usual.requests);
    }
    return hottest(growth);
}

void Endpoints::request(const Request& one, RequestEnd end) {
    if (end == RequestEnd::answered && one.duration_ns() < least_ns_) {
        ++shorter_;
        return;
    }
    auto found = by_name_.find(one.endpoint);
    if (found == by_name_.end()) {
        const std::string& name = by_name_.size() < kMost ? one.endpoint : kOther;
        found = by_name_.try_emplace(name).first;
        found->second.name = name;
    }
    found->second.add(one, end);
}

uint64_t Endpoints::requests() const {
    uint64_t requests = 0;
    for (const auto& [name, use] : by_name_) requests += use.requests;
    return requests;
}

std::vector<const EndpointUse*> Endpoints::all() const {
    std::vector<const EndpointUse*> all;
    for (const auto& [name, use] : by_name_) all.push_back(&use);
    std::ranges::stable_sort(
        all, [](const EndpointUse* a, const EndpointUse* b) { return a->requests > b->requests; });
    return all;
}

}  // namespace mlbcc::requests
