// One request to a server, and where its time went: all parts together are its duration.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "requests/stacks.h"

namespace mlbcc::requests {

// Parts of a request's time, by their names: those that are always there, then those of rules, as
// they come. Those for which there is no room are `other`.
class Parts {
public:
    static constexpr size_t kMost = 24;
    enum : size_t {
        cpu,
        run_queue,
        shared,
        handed_over,
        poll,
        other,
        event_loop,
        sending,
        gil,  // CPython's global interpreter lock
        first_reason
    };

    size_t index(std::string_view name);
    const std::vector<std::string>& names() const { return names_; }

private:
    std::vector<std::string> names_{"cpu",   "run queue",  "shared",  "handed over", "poll",
                                    "other", "event loop", "sending", "GIL"};
};

using PartTimes = std::array<uint64_t, Parts::kMost>;  // ns, by Parts::index

// System calls that were asked for (`mlbcc serve --syscalls`), by their names.
struct SyscallUse {
    uint64_t calls = 0, time_ns = 0;
};
using SyscallUses = std::map<std::string, SyscallUse, std::less<>>;
void add(SyscallUses& all, const SyscallUses& more);

struct Request {
    uint64_t id = 0;            // grows among those of a thread, from 1
    uint64_t mark = 0;          // the server's own number of it; 0: none is known
    uint32_t pid = 0, tid = 0;  // of who received its first byte
    std::string endpoint;       // "GET /items"; "(TLS)" where only turns are known
    bool is_head = false;       // its answer has no body
    unsigned status = 0;        // 0: not known
    uint64_t begin_ns = 0;      // the first byte was there
    uint64_t opened_ns = 0;     // its first line was: the thread knows what it is about
    uint64_t marked_ns = 0;     // the server first said that it works for it; 0: it did not
    uint64_t end_ns = 0;        // the last byte that is known was sent
    uint64_t bytes_in = 0, bytes_out = 0;
    bool answered = false;     // at least its first byte
    bool handed_over = false;  // by another thread than received it
    PartTimes parts{};
    PartTimes unsure{};  // since end_ns: part of it if another byte is sent
    SyscallUses calls, unsure_calls;
    WaitPlaces places;  // those that are known, of waits with stacks

    uint64_t duration_ns() const { return end_ns - begin_ns; }
    // Without what it was queued for before; for one that the server has marked.
    uint64_t work_ns() const { return end_ns - std::clamp(marked_ns, begin_ns, end_ns); }
};

// Why a request is over. closed: without an answer; open: it is not, but no more is known.
enum class RequestEnd { answered, closed, open };

class TakeRequest {
public:
    virtual ~TakeRequest() = default;
    virtual void request(const Request& one, RequestEnd end) = 0;
};

}  // namespace mlbcc::requests
