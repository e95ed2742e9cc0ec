#include "requests/worker.h"

#include <algorithm>

#include "requests/request.h"

namespace mlbcc::requests {
namespace {

// A wait is told of when it is over.
constexpr uint64_t kPatienceToTell = 10'000'000'000;   // what it is that it does
constexpr uint64_t kPatienceToSettle = 5'000'000'000;  // whether it works at all

}  // namespace

void Worker::called(const ServeEvent& wait) {
    uint64_t woken_ns = wait.end_ns - wait.queued_ns;
    if (done_ns_ != 0) {
        line_.forget_since(done_ns_);
    } else {
        line_.pass(wait.begin_ns, Parts::cpu, since_ns_);
    }
    line_.pass(woken_ns, ThreadLine::kIdle);
    done_ns_ = 0;
    relays_ = has_told_caller_ = false;
    has_ended_ = false;  // it may have worked for another meanwhile
    since_ns_ = woken_ns;
    line_.pass(wait.end_ns, Parts::run_queue, since_ns_);
}

bool Worker::wait(const ServeEvent& wait, size_t part) {
    if (done_ns_ != 0 && part == ThreadLine::kIdle) {
        relays_ = has_told_caller_;  // given nothing since: it is there for the answers
        if (!relays_) go_on();       // it had asked for this one
    }
    // On its way to the next wait for work it may wait for the interpreter's lock, most often with
    // a time limit: where the Python is not known, by that.
    const bool is_for_interpreter = part == Parts::gil || (wait.timed && !takes_turns_);
    if (done_ns_ != 0 && !relays_ && (marks_ || is_for_interpreter)) {
        pass(meanwhile_, wait, part);
        if (wait.end_ns > kPatienceToSettle) meanwhile_.at(wait.end_ns - kPatienceToSettle);
        return false;
    }
    const bool is_for_its_turn = takes_turns_ && wait.text == "lock";
    if (done_ns_ != 0 && (relays_ || is_for_its_turn)) {
        line_.forget_since(done_ns_);
        line_.pass(wait.end_ns, ThreadLine::kIdle);
        is_done(wait.end_ns);
        return false;
    }
    if (done_ns_ != 0) go_on();
    pass(line_, wait, part);
    return part != ThreadLine::kIdle;
}

void Worker::pass(ThreadLine& line, const ServeEvent& wait, size_t part) const {
    line.pass(wait.begin_ns, Parts::cpu, since_ns_);
    line.pass(wait.end_ns - wait.queued_ns, part, since_ns_);
    line.pass(wait.end_ns, Parts::run_queue, since_ns_);
}

void Worker::is_done(uint64_t time_ns) {
    done_ns_ = time_ns;
    meanwhile_ = ThreadLine(time_ns);
}

void Worker::has_asked() {
    if (done_ns_ != 0) go_on();
}

// It had its next work already when it gave back, and its waits since then were for that.
void Worker::go_on() {
    relays_ = has_told_caller_ = false;
    line_.forget_since(done_ns_);
    since_ns_ = done_ns_;
    done_ns_ = 0;
    line_.go_on_as(meanwhile_, since_ns_);
}

void Worker::part(uint64_t time_ns, std::optional<size_t> part) {
    if (done_ns_ == 0) line_.pass(time_ns, Parts::cpu, since_ns_);
    part ? line_.begin(*part) : line_.end();
}

void Worker::mark(uint64_t time_ns, uint64_t request) {
    if (request == 0) {
        gave_back(time_ns);
        return line_.mark(0);
    }
    if (done_ns_ != 0) {
        line_.forget_since(done_ns_);
        line_.pass(time_ns, ThreadLine::kIdle);
        done_ns_ = 0;
        since_ns_ = time_ns;
    } else {
        line_.pass(time_ns, Parts::cpu, since_ns_);
        line_.mark_since(since_ns_, request);
    }
    line_.mark(request);
    is_known_ = marks_ = true;
    has_ended_ = false;
}

bool Worker::may_mark(uint64_t now_ns) const {
    bool works = is_known_ && done_ns_ == 0 && !has_ended_;
    return works && line_.marked() == 0 && now_ns < since_ns_ + kPatienceToSettle;
}

void Worker::gave_back(uint64_t time_ns) {
    if (done_ns_ != 0 && !takes_turns_) return;
    if (done_ns_ != 0) go_on();
    line_.pass(time_ns, Parts::cpu, since_ns_);
    line_.end_all();  // ends may have been lost
    is_done(std::min(time_ns, line_.known_ns()));
}

void Worker::exit(uint64_t time_ns) {
    if (done_ns_ == 0) line_.pass(time_ns, Parts::cpu, since_ns_);
    has_ended_ = true;
}

uint64_t Worker::settled_ns(uint64_t now_ns) const {
    if (has_ended_) return UINT64_MAX;
    uint64_t known = done_ns_ != 0 ? done_ns_ : line_.known_ns();
    uint64_t patience = is_known_ && done_ns_ == 0 ? kPatienceToTell : kPatienceToSettle;
    return std::max(known, now_ns > patience ? now_ns - patience : 0);
}

ThreadLine::Piece Worker::at(uint64_t time_ns) {
    std::optional<ThreadLine::Piece> piece = line_.at(time_ns);
    if (!is_known_) return {UINT64_MAX, ThreadLine::kIdle, 0};
    if (piece) return *piece;
    bool is_idle = done_ns_ != 0 || has_ended_;
    return {UINT64_MAX, is_idle ? ThreadLine::kIdle : size_t{Parts::handed_over}, since_ns_};
}

}  // namespace mlbcc::requests
