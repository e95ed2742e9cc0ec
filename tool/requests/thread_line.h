// What a thread did, piece after piece. The oldest are dropped when they were counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace mlbcc::requests {

class ThreadLine {
public:
    static constexpr size_t kIdle = SIZE_MAX;  // a part: it worked for nobody

    struct Piece {
        uint64_t until_ns;
        size_t part;        // Parts::index, or kIdle
        uint64_t since_ns;  // when the work was handed to it
        uint64_t mark = 0;  // which request it said it worked for; 0: it did not say
    };

    explicit ThreadLine(uint64_t from_ns) : from_ns_(from_ns) {}

    uint64_t known_ns() const { return pieces_.empty() ? from_ns_ : pieces_.back().until_ns; }
    size_t size() const { return pieces_.size(); }
    // Nothing if it is known until then. Between begin() and end() it is for that part, unless the
    // thread was idle or waited for a CPU.
    void pass(uint64_t until_ns, size_t part, uint64_t since_ns = 0);
    // What is passed from then on is for that request.
    void mark(uint64_t request) { mark_ = request; }
    uint64_t marked() const { return mark_; }
    // So is what it did since the work was handed to it.
    void mark_since(uint64_t since_ns, uint64_t request);
    // Where the first piece begins that is marked so.
    std::optional<uint64_t> first_marked(const std::function<bool(uint64_t mark)>& so) const;
    // Parts may lie in others: the inner one counts.
    void begin(size_t part);
    void end();
    void end_all() { within_.clear(); }
    // It was otherwise: the thread is known until then only.
    void forget_since(uint64_t time_ns);
    // What another line has of later, as work that was handed to it at `since_ns`.
    void go_on_as(const ThreadLine& other, uint64_t since_ns);
    // What it did behind `time_ns`, if that is known. Drops what was before.
    std::optional<Piece> at(uint64_t time_ns);

private:
    uint64_t from_ns_;  // where the first piece begins
    std::deque<Piece> pieces_;
    std::vector<size_t> within_;
    uint64_t mark_ = 0;
};

}  // namespace mlbcc::requests
