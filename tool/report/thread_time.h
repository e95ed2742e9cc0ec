// A thread's time to the requests that it works for. Of several at once it is not known which it
// works for: then it is `shared`, but for its waiting for all of them in poll().
#pragma once

#include <cstdint>
#include <vector>

#include "report/request.h"

namespace mlbcc::report {

// Calls come in the order of their times; requests stay where they are until they ended.
class ThreadTime {
public:
    void begin(Request& request, uint64_t now_ns);
    // Has sent a byte of its answer.
    void sent(Request& request, uint64_t now_ns);
    void end(Request& request);
    // `queued_ns`: at its end it waited for a CPU.
    void wait(uint64_t begin_ns, uint64_t end_ns, uint64_t queued_ns, size_t part);
    bool is_idle() const { return open_.empty(); }

private:
    void pass(uint64_t until_ns, size_t part);
    std::vector<Request*> open_;
    uint64_t now_ns_ = 0;
};

}  // namespace mlbcc::report
