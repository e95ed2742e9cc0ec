// A moment of a server to the requests that are open then.
//
// A worker works for one of the requests that were open when it was called, and each request is
// with one worker, or with the thread of its connection. That works for one of those, unless it
// waits in poll(). Where this leaves one possibility, it is known. Where it leaves several requests
// of one endpoint, they get the same: the sum over the endpoint is right. Else what was done is
// `shared`.
#pragma once

#include <cstdint>
#include <vector>

#include "requests/request.h"
#include "requests/worker.h"

namespace mlbcc::requests {

struct WorkerNow {
    size_t candidates;         // it works for one of the first so many
    size_t part;               // what it does
    uint64_t request;          // Request::id: it works for that one; 0: not known
    uint64_t since_ns = 0;     // when it was called
    Worker* worker = nullptr;  // who it is
};

struct OwnWork {  // of the thread that received the requests
    size_t part;
    uint64_t request = 0;  // Request::id: it said that it works for that one; 0: not known
    bool says = false;     // it says so whenever it works for one
};

// `open` are in the order in which they came. Tells of `workers` what was found out.
void split_time(uint64_t duration_ns, const OwnWork& own, const std::vector<Request*>& open,
                std::vector<WorkerNow>& workers);

}  // namespace mlbcc::requests
