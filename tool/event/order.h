// Merges the rings of all CPUs into one stream in time order: records as they arrive (each ring
// nearly sorted, rings read one after the other) -> items in strictly ascending (time, order).
//
//   ring 0:  B@10        E@40 X@10..40          drain(30):  B@10 X@10 B@20
//   ring 1:        B@20                  E@60   drain(70):  E@40 E@60
//
// A return record may be two items over the same bytes: an end, placed at its own time, and a whole
// call (X), placed at its beginning. The owner drains up to a moment that lies a window behind now;
// what arrives older than what was drained already is `late` and comes first at the next drain.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "event/arena.h"

namespace mlbcc::event {

// Which part of a record an item is; also the order of items of the same time.
enum class Part : uint8_t { process, at_time, at_start };

class Merger {
public:
    struct Key {
        Part part{};
        uint64_t time_ns = 0;
    };
    struct Item {
        uint64_t time_ns = 0;
        Part part{};
        uint32_t cpu = 0;
        std::span<const std::byte> record;
        RecordNotes* notes = nullptr;      // the record's: all its items have the same
        bool first = false, last = false;  // of the items of this record
        bool late = false;
    };

    // Copies `record` once and puts an item for each of `keys` (1 or 2). At most
    // RecordArena::kMaxRecord bytes.
    void add(uint32_t cpu, std::span<const std::byte> record, std::span<const Key> keys,
             const RecordNotes& notes = {});

    // Gives `emit(const Item&)` all items before `until_ns`, in order, and forgets them.
    template <class Emit> void drain(uint64_t until_ns, Emit&& emit) {
        merge_fresh();
        while (head_ < sorted_.size() && sorted_[head_].time_ns < until_ns) emit_one(emit);
        forget_drained();
    }
    template <class Emit> void drain_all(Emit&& emit) {
        merge_fresh();
        while (head_ < sorted_.size()) emit_one(emit);
        forget_drained();
    }

    // All has been drained: what comes next is late only after what comes next.
    void begin_anew() { drained_ns_ = 0; }
    uint64_t late() const { return late_; }
    const RecordArena& arena() const { return arena_; }

private:
    struct Entry {
        uint64_t time_ns = 0;
        uint64_t rank = 0;  // part, then order of arrival
        StoredRecord* record = nullptr;
        bool operator<(const Entry& other) const {
            return time_ns != other.time_ns ? time_ns < other.time_ns : rank < other.rank;
        }
    };
    static constexpr int kPartShift = 56;

    void merge_fresh();
    void sort_fresh();
    void forget_drained();

    template <class Emit> void emit_one(Emit&& emit) {
        Entry entry = sorted_[head_++];
        StoredRecord* stored = entry.record;
        bool late = entry.time_ns < drained_ns_;
        if (late) ++late_;
        if (!late) drained_ns_ = entry.time_ns;
        emit(Item{entry.time_ns, static_cast<Part>(entry.rank >> kPartShift), stored->cpu,
                  stored->bytes(), &stored->notes, stored->uses_left == stored->uses,
                  stored->uses_left == 1, late});
        arena_.release(stored);
    }

    RecordArena arena_;
    std::vector<Entry> fresh_, sorted_, scratch_;
    std::vector<size_t> runs_;
    size_t head_ = 0;  // of sorted_: what lies before was drained
    uint64_t arrived_ = 0, drained_ns_ = 0, late_ = 0;
};

}  // namespace mlbcc::event
