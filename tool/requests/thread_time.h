// The time of a thread that receives requests, and of the threads that work for it, to the requests
// that they worked for (requests/time_split.h). A request is taken when all of its time is known.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "requests/request.h"
#include "requests/serve_event.h"
#include "requests/time_split.h"
#include "requests/worker.h"

namespace mlbcc::requests {

// Calls come in the order of their times; requests stay where they are until they ended.
class ThreadTime {
public:
    ThreadTime(uint32_t pid, uint64_t now_ns, TakeRequest& take)
        : pid_(pid), line_(now_ns), swept_ns_(now_ns), take_(take) {}

    uint32_t pid() const { return pid_; }
    void begin(Request& request, uint64_t now_ns);
    // Has sent a byte of its answer.
    void sent(Request& request, const ServeEvent& send);
    void end(std::unique_ptr<Request> request, RequestEnd how);
    void wait(const ServeEvent& wait, size_t part);
    // A system call of it. False: it is of no request, or it is not known of which endpoint's.
    bool call(const ServeEvent& call) { return give(call, call.begin_ns, marked(line_.marked())); }
    // What it does from then on is that part of a request; nothing: not any more.
    void part(uint64_t now_ns, std::optional<size_t> part);
    // It said which request it works for, by a number of the server's own; 0: none.
    void mark(uint64_t now_ns, uint64_t request);
    bool knows_mark(uint64_t request) const { return marks_.contains(request); }
    // When no more comes. Until `now_ns`, requests that are not answered go on.
    void finish(uint64_t now_ns = 0);
    bool is_idle() const { return open_.empty() && ended_.empty(); }

    // A thread that may work for it, from then on.
    void has_made(uint32_t worker, uint64_t now_ns);
    // Has ended the worker's wait: it may be one from then on.
    void has_called(const ServeEvent& wait);
    void worker_waits(const ServeEvent& wait, size_t part);  // kIdle: for another worker
    bool worker_call(const ServeEvent& call);
    void worker_part(uint32_t worker, uint64_t now_ns, std::optional<size_t> part);
    void worker_mark(uint32_t worker, uint64_t now_ns, uint64_t request);
    // It has said which request it works for: it does not wait for work.
    bool is_marked(uint32_t worker) const { return workers_.at(worker).marked() != 0; }
    void worker_sent(uint32_t worker, uint64_t now_ns);
    // It is a process, and has ended the wait of a thread of this one's.
    void worker_gave_back(const ServeEvent& wait);
    void worker_exits(uint32_t worker, uint64_t now_ns);

private:
    void catch_up(uint64_t now_ns);
    uint64_t settled_ns(uint64_t now_ns) const;
    void sweep(uint64_t until_ns);
    uint64_t sweep_piece(uint64_t until_ns);
    void split(uint64_t duration_ns, const OwnWork& own, const std::vector<Request*>& open);
    uint64_t marked(uint64_t mark) const;
    void note_mark(uint64_t mark, uint64_t now_ns);
    void bind(uint64_t mark, Request& request);
    void drop_ended();
    struct Owner {
        Request* request = nullptr;  // null: it is not known
        bool is_sure = false;        // else it is its only if the answer goes on
    };
    Owner owner(uint64_t time_ns, uint64_t since_ns, uint64_t request) const;
    bool give(const ServeEvent& call, uint64_t since_ns, uint64_t request);
    void place(const ServeEvent& wait, size_t part, uint64_t since_ns, uint64_t request);
    uint64_t request_of(const Worker& worker) const;
    bool has_ended(const Request& one) const;

    uint32_t pid_;
    ThreadLine line_;
    uint64_t swept_ns_;  // until then all time was given to requests
    TakeRequest& take_;
    std::vector<Request*> open_;  // and ended ones whose time is not known
    std::vector<std::unique_ptr<Request>> ended_;
    std::map<uint32_t, Worker> workers_;
    struct Marked {
        uint64_t request = 0;   // Request::id, 0 if not known
        uint64_t first_ns = 0;  // when it was first said
    };
    std::map<uint64_t, Marked> marks_;  // the server's numbers
    uint64_t requests_ = 0;             // that there were
};

}  // namespace mlbcc::requests
