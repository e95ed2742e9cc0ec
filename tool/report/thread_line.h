// What a thread did, piece after piece. The oldest are dropped when they were counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace mlbcc::report {

class ThreadLine {
public:
    static constexpr size_t kIdle = SIZE_MAX;  // a part: it worked for nobody

    struct Piece {
        uint64_t until_ns;
        size_t part;        // Parts::index, or kIdle
        uint64_t since_ns;  // when the work was handed to it
    };

    explicit ThreadLine(uint64_t from_ns) : from_ns_(from_ns) {}

    uint64_t known_ns() const { return pieces_.empty() ? from_ns_ : pieces_.back().until_ns; }
    size_t size() const { return pieces_.size(); }
    // Nothing if it is known until then. Between begin() and end() it is for that part, unless the
    // thread was idle or waited for a CPU.
    void pass(uint64_t until_ns, size_t part, uint64_t since_ns = 0);
    // Parts may lie in others: the inner one counts.
    void begin(size_t part);
    void end();
    void end_all() { within_.clear(); }
    // It was otherwise: the thread is known until then only.
    void forget_since(uint64_t time_ns);
    // What it did behind `time_ns`, if that is known. Drops what was before.
    std::optional<Piece> at(uint64_t time_ns);

private:
    uint64_t from_ns_;  // where the first piece begins
    std::deque<Piece> pieces_;
    std::vector<size_t> within_;
};

}  // namespace mlbcc::report
