// A thread of a pool, or of a process of one, which works for the requests of another, its caller:
// from the moment at which that wakes it (or makes it) until it waits to be woken again.
//
//   caller   |receive A|wake|......poll......|send A|
//   worker   ...lock...|    cpu   |wake|......lock......
//
// That it is one is known when it has woken its caller from poll(), or any thread of its parent.
#pragma once

#include <cstdint>
#include <optional>

#include "requests/serve_event.h"
#include "requests/thread_line.h"

namespace mlbcc::requests {

class Worker {
public:
    // Made, or woken, by its caller then.
    explicit Worker(uint64_t since_ns) : line_(since_ns), since_ns_(since_ns) {}

    // Its caller ended its wait for work.
    void called(const ServeEvent& wait);
    // Any other wait; kIdle: for one that works for the same requests. False: it is of no work.
    bool wait(const ServeEvent& wait, size_t part);
    // It has given work to a process itself: it works, and is not there for the answers of others.
    void has_asked();
    // What it does from then on is that part of a request; nothing: not any more.
    void part(uint64_t time_ns, std::optional<size_t> part);
    // It said which request it works for.
    void mark(uint64_t time_ns, uint64_t request);
    // It has told somebody: most often that its work is done.
    void gave_back(uint64_t time_ns);
    void gave_back_to_caller(uint64_t time_ns) {
        gave_back(time_ns);
        is_known_ = has_told_caller_ = true;
    }
    void exit(uint64_t time_ns);
    // It is a process, and takes its work by turns with others.
    void is_of_pool() { takes_turns_ = true; }

    bool has_ended() const { return has_ended_; }
    uint64_t marked() const { return line_.marked(); }
    // It may still say which request it works for since since_ns().
    bool may_mark(uint64_t now_ns) const;
    bool is_known() const { return is_known_; }
    uint64_t known_ns() const { return line_.known_ns(); }
    // Until when what it did is known for good, if more than `now_ns` has not come. What has not
    // come after a while is not waited for.
    uint64_t settled_ns(uint64_t now_ns) const;
    // What it did behind `time_ns`: kIdle, or a part of Parts.
    ThreadLine::Piece at(uint64_t time_ns);
    // When its present work was handed to it.
    uint64_t since_ns() const { return since_ns_; }

    // Request::id, of work that was handed to it then; 0: not known.
    uint64_t request(uint64_t since_ns) const { return since_ns == found_since_ns_ ? found_ : 0; }
    void found(uint64_t since_ns, uint64_t request) {
        found_since_ns_ = since_ns;
        found_ = request;
    }

private:
    void pass(ThreadLine& line, const ServeEvent& wait, size_t part) const;
    void is_done(uint64_t time_ns);
    void go_on();

    ThreadLine line_;
    ThreadLine meanwhile_{0};  // what it did since done_ns_, should it turn out to be work
    uint64_t since_ns_;
    uint64_t done_ns_ = 0;  // gave back, and is not known to have gone on; 0: works
    uint64_t found_since_ns_ = 0, found_ = 0;
    bool is_known_ = false;
    bool marks_ = false;  // it says when it works
    bool has_ended_ = false;
    bool takes_turns_ = false;
    bool has_told_caller_ = false;  // since it was given work
    bool relays_ = false;           // answers of processes, until it is given work
};

}  // namespace mlbcc::requests
