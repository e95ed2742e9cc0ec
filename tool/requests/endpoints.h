// Requests to what is known of each endpoint. Those of endpoints that come after kMost others are
// those of `other`, so that memory is bounded: at most 30 MiB.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "requests/latency.h"
#include "requests/request.h"

namespace mlbcc::requests {

struct SlowRequest {
    uint64_t begin_ns = 0, duration_ns = 0;  // since the trace began
    uint32_t pid = 0, tid = 0;               // of who received it
    unsigned status = 0;
    PartTimes parts{};
    WaitPlaces places;
};

struct EndpointUse {
    static constexpr size_t kSlowest = 3, kPlaces = 100;

    std::string name;
    uint64_t requests = 0;  // answered; all of the following are of these, if it does not say else
    uint64_t client_errors = 0, server_errors = 0;  // status 4xx, 5xx
    uint64_t unanswered = 0;                        // closed without an answer
    uint64_t open = 0;                              // without an answer when the trace ended
    std::vector<SlowRequest> longest_open;          // of these; as `slowest`
    uint64_t bytes_in = 0, bytes_out = 0, time_ns = 0;
    Latency latency;
    Latency work;  // of those that the server has marked, without what they were queued for before
    PartTimes parts{};
    SyscallUses calls;
    WaitPlaces places;             // at most kPlaces
    uint64_t waits_elsewhere = 0;  // in further places
    // Of requests that took about as long: by powers of 2^(1/4) ns.
    struct Alike {
        uint64_t requests = 0;
        PartTimes parts{};
    };
    std::array<Alike, 256> alike{};
    std::vector<SlowRequest> slowest;  // at most kSlowest, the longest first

    void add(const Request& one, RequestEnd end);
    // The part that most of the time is.
    size_t most() const;
    // The part that grows most from requests of about the median to those of the 99th percentile
    // and beyond; where these take less than half as long again, that which most of the time is.
    // Waiting to run, for a CPU or for the interpreter's lock, is `cpu` here: with less to compute
    // there is less of all three.
    size_t hotspot() const;
};

class Endpoints : public TakeRequest {
public:
    static constexpr size_t kMost = 200;
    // Answered ones that took less than `least_ns` are only counted.
    explicit Endpoints(uint64_t least_ns) : least_ns_(least_ns) {}
    void request(const Request& one, RequestEnd end) override;

    // The most frequent first.
    std::vector<const EndpointUse*> all() const;
    uint64_t requests() const;  // of all of them
    uint64_t shorter() const { return shorter_; }

private:
    uint64_t least_ns_, shorter_ = 0;
    std::map<std::string, EndpointUse, std::less<>> by_name_;
};

}  // namespace mlbcc::requests
