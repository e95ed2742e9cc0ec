// Bytes on a server's connections to requests: from the first byte of one to the last of its
// answer.
//
//   receive "GET /a HTTP/1.1..", send "HTTP/1.1 200 OK.."  ->  {"GET /a", 200, 1.3 ms}
//
// Several requests may follow each other on a connection, also before the first is answered. Where
// it is no HTTP/1, or unread, a request is what one side says before the other answers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "requests/http_head.h"
#include "requests/request.h"
#include "requests/serve_event.h"
#include "requests/thread_time.h"

namespace mlbcc::requests {

struct OpenRequests {
    uint64_t waiting = 0, overdue = 0;  // for their answers; overdue: longer than the limit
};

class Connections {
public:
    // `reads_http`: else all is turns.
    Connections(bool reads_http, TakeRequest& take) : reads_http_(reads_http), take_(take) {}

    // In the order of their ends.
    void add(const ServeEvent& one);
    // When no more comes: answers that may have gone on are over, and requests without one are
    // taken as they are at `now_ns`.
    void finish(uint64_t now_ns = 0);
    OpenRequests open(uint64_t now_ns, uint64_t limit_ns) const;
    const Parts& parts() const { return parts_; }
    // Of which it is not known for which endpoint they were.
    const SyscallUses& shared_calls() const { return shared_calls_; }

private:
    using Place = std::pair<uint32_t, int64_t>;  // process and descriptor
    using Threads = std::map<uint32_t, ThreadTime>;
    struct Caller {
        uint32_t tid = 0, pid = 0;  // who received the requests
        uint32_t worker_pid = 0;    // of who may work for it
    };
    struct Connection {
        bool by_turns = false;
        bool is_seen_inside = false;  // what it carries is that of another connection
        std::string label;            // by turns: of all its requests
        std::string begun;            // of a first line that came in parts
        uint64_t begun_ns = 0;
        uint64_t body_left = 0;    // of the last request
        uint64_t answer_left = 0;  // of the first one's answer; its length is known while not 0
        std::deque<std::unique_ptr<Request>> requests;  // in order; not yet over
    };

    void accept(const ServeEvent& one);
    void close(const Place& place);
    void exit(const ServeEvent& one);
    void born(const ServeEvent& one);
    void wait(const ServeEvent& one);
    void wait_of_other(const ServeEvent& one, bool is_for_answer);
    Threads::iterator called_by(const ServeEvent& wait);
    bool give_back(const ServeEvent& wait);
    bool is_descendant(uint32_t pid, uint32_t of) const;
    void call(const ServeEvent& one);
    void begin_or_end(const ServeEvent& one);
    void mark(const ServeEvent& one);
    void stop_working(const ServeEvent& one);
    ThreadTime* caller_of(uint32_t tid, uint32_t pid);
    ThreadTime& thread(const Request& request, uint64_t now_ns);

    void receive(const ServeEvent& one);
    void receive_turn(Connection& on, const ServeEvent& one);
    void receive_http(Connection& on, const ServeEvent& one);
    bool receive_head(Connection& on, const ServeEvent& one, uint64_t& at);
    Request& begin(Connection& on, const ServeEvent& one, uint64_t begin_ns);

    void send(const ServeEvent& one);
    void send_http(Connection& on, const ServeEvent& one);
    bool send_head(Connection& on, const ServeEvent& one, uint64_t& at);
    void sent(Connection& on, const ServeEvent& one);
    void end_first(Connection& on);
    void take_open(uint64_t now_ns);

    bool reads_http_;
    TakeRequest& take_;
    Parts parts_;
    SyscallUses shared_calls_;
    std::map<Place, Connection> connections_;
    std::set<uint32_t> tls_;                // processes whose encrypted bytes are known unencrypted
    Threads threads_;                       // that received requests
    std::map<uint32_t, Caller> callers_;    // of other threads, those that they may work for
    std::map<uint32_t, uint32_t> parents_;  // of processes
};

}  // namespace mlbcc::requests
