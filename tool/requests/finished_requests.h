// Requests that were answered, kept until somebody takes them, on their way to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "requests/request.h"

namespace mlbcc::requests {

class FinishedRequests : public TakeRequest {
public:
    explicit FinishedRequests(TakeRequest& next) : next_(next) {}

    // From now on one of `one_in`, those that took `least_ns` at least; `most` at a time.
    void keep(uint64_t one_in, uint64_t least_ns, size_t most = 20'000) {
        one_in_ = one_in;
        least_ns_ = least_ns;
        most_ = most;
    }
    void request(const Request& one, RequestEnd end) override {
        next_.request(one, end);
        if (one_in_ == 0 || end != RequestEnd::answered || one.duration_ns() < least_ns_) return;
        if (seen_++ % one_in_ != 0) return;
        if (kept_.size() < most_) {
            kept_.push_back(one);
        } else {
            ++left_out_;
        }
    }
    std::vector<Request> take() { return std::exchange(kept_, {}); }
    uint64_t left_out() const { return left_out_; }  // for want of room

private:
    TakeRequest& next_;
    uint64_t one_in_ = 0, least_ns_ = 0, seen_ = 0, left_out_ = 0;
    size_t most_ = 0;
    std::vector<Request> kept_;
};

}  // namespace mlbcc::requests
