#include "requests/thread_line.h"

#include "requests/request.h"

namespace mlbcc::requests {
namespace {

constexpr size_t kDeepest = 64;  // more were begun only if their ends were lost

}  // namespace

void ThreadLine::begin(size_t part) {
    if (within_.size() == kDeepest) within_.clear();
    within_.push_back(part);
}

void ThreadLine::end() {
    if (!within_.empty()) within_.pop_back();
}

void ThreadLine::pass(uint64_t until_ns, size_t part, uint64_t since_ns) {
    if (until_ns <= known_ns()) return;
    if (!within_.empty() && part != kIdle && part != Parts::run_queue) part = within_.back();
    const uint64_t mark = part == kIdle ? 0 : mark_;
    bool goes_on = !pieces_.empty() && pieces_.back().part == part &&
                   pieces_.back().since_ns == since_ns && pieces_.back().mark == mark;
    if (goes_on) {
        pieces_.back().until_ns = until_ns;
    } else {
        pieces_.push_back({until_ns, part, since_ns, mark});
    }
}

std::optional<uint64_t>
ThreadLine::first_marked(const std::function<bool(uint64_t mark)>& so) const {
    uint64_t begin_ns = from_ns_;
    for (const Piece& piece : pieces_) {
        if (piece.mark != 0 && so(piece.mark)) return begin_ns;
        begin_ns = piece.until_ns;
    }
    return {};
}

void ThreadLine::mark_since(uint64_t since_ns, uint64_t request) {
    for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
        if (piece->since_ns != since_ns || piece->mark != 0 || piece->part == kIdle) break;
        piece->mark = request;
    }
}

void ThreadLine::forget_since(uint64_t time_ns) {
    while (!pieces_.empty()) {
        uint64_t begin = pieces_.size() > 1 ? pieces_[pieces_.size() - 2].until_ns : from_ns_;
        if (begin < time_ns) break;
        pieces_.pop_back();
    }
    if (!pieces_.empty() && pieces_.back().until_ns > time_ns) pieces_.back().until_ns = time_ns;
}

void ThreadLine::go_on_as(const ThreadLine& other, uint64_t since_ns) {
    if (other.pieces_.empty()) return;
    pass(other.from_ns_, kIdle);  // what it had of that is dropped
    for (const Piece& piece : other.pieces_) pass(piece.until_ns, piece.part, since_ns);
}

std::optional<ThreadLine::Piece> ThreadLine::at(uint64_t time_ns) {
    while (!pieces_.empty() && pieces_.front().until_ns <= time_ns) {
        from_ns_ = pieces_.front().until_ns;
        pieces_.pop_front();
    }
    if (time_ns < from_ns_) return Piece{from_ns_, kIdle, 0};
    if (pieces_.empty()) return {};
    return pieces_.front();
}

}  // namespace mlbcc::requests
