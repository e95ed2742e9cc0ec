// What rules/serve.rules tells of a server, in the order in which it was over: a trace has calls in
// the order of their beginnings, but a byte is there when the call that received it returns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "saved/event_fields.h"

namespace mlbcc::requests {

struct ServeEvent {
    enum class Kind : uint8_t {
        accept,
        close,
        exit,
        born,
        receive,
        send,
        wait,
        call,
        tls,
        begin,
        end,
        mark
    };
    Kind kind{};
    uint64_t begin_ns = 0, end_ns = 0;  // since the trace began
    uint32_t pid = 0, tid = 0;
    int64_t fd = -1;         // accept, close, receive, send
    uint64_t bytes = 0;      // receive, send
    uint64_t queued_ns = 0;  // wait: at its end, for a CPU
    // receive, send: what the first bytes are; wait: the reason; call: its name; begin: the part
    std::string text;
    uint32_t other_tid = 0;   // born: the new thread; wait: who ended it, 0 if that is not known
    bool timed = false;       // wait: it had a time limit
    uint64_t request = 0;     // mark: the server's number of it, 0: none
    uint32_t other_pid = 0;   // wait: the process of who ended it
    uint32_t parent_pid = 0;  // wait: whose child the process is
    std::vector<std::string> stack = {};  // wait: where, innermost first, if the rules say so
};
// Nothing if it is another rule's event.
std::optional<ServeEvent> serve_event(const saved::EventFields& one);

class EndOrder {
public:
    using Take = std::function<void(const ServeEvent&)>;
    explicit EndOrder(Take take) : take_(std::move(take)) {}

    // In the order of a trace. Gives what was over before this one began.
    void add(ServeEvent one);
    void finish();  // gives the rest

private:
    struct Later {
        // A call that sends is known before what it sent, which may end its request.
        bool operator()(const ServeEvent& a, const ServeEvent& b) const {
            if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
            return b.kind == ServeEvent::Kind::call && a.kind != ServeEvent::Kind::call;
        }
    };
    Take take_;
    std::priority_queue<ServeEvent, std::vector<ServeEvent>, Later> waiting_;
};

}  // namespace mlbcc::requests
