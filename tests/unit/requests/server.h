// A server of a few connections, whose events a test tells, and the requests that come of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "requests/connections.h"

namespace mlbcc::requests {

using Kind = ServeEvent::Kind;

struct Taken : TakeRequest {
    std::vector<Request> answered, closed;
    void request(const Request& one, RequestEnd end) override {
        (end == RequestEnd::answered ? answered : closed).push_back(one);
    }
};

struct Server : testing::Test {
    Taken taken;
    Connections on{true, taken};

    void happens(Kind kind, uint64_t at, uint32_t pid, int64_t fd, std::string text = {},
                 uint32_t tid = 0) {
        ServeEvent one;
        one.kind = kind;
        one.begin_ns = one.end_ns = at;
        one.pid = pid;
        one.tid = tid == 0 ? pid : tid;
        one.fd = fd;
        one.bytes = text.size();
        one.text = std::move(text);
        on.add(one);
    }
    void waits(uint64_t begin, uint64_t end, uint64_t queued, uint32_t tid, std::string reason,
               uint32_t waker = 0, bool timed = false) {
        on.add({Kind::wait, begin, end, 1, tid, -1, 0, queued, std::move(reason), waker, timed});
    }
    void calls(uint64_t begin, uint64_t end, std::string name, uint32_t tid = 1) {
        on.add({Kind::call, begin, end, 1, tid, -1, 0, 0, std::move(name)});
    }
    uint64_t part(const Request& one, std::string_view name) {
        Parts parts = on.parts();
        return one.parts[parts.index(name)];
    }
};

inline const std::string kGet = "GET /a?x=1 HTTP/1.1\r\nHost: a\r\n\r\n";
inline const std::string kOther = "GET /b HTTP/1.1\r\n\r\n";
inline const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";

inline uint64_t sum(const PartTimes& parts) {
    uint64_t all = 0;
    for (uint64_t one : parts) all += one;
    return all;
}

}  // namespace mlbcc::requests
