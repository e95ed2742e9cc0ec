// What `largest` keeps: of each list the N largest values with what is known of their calls, the
// largest first; of equal ones those that came first. Over all processes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "event/bag.h"
#include "event/event.h"

namespace mlbcc::event {

class Largest {
public:
    // `plan` must outlive it, and may grow.
    explicit Largest(const plan::Plan& plan) : plan_(plan) {}

    // Counts one call more. Whether there is room for it: only then add() is asked for.
    bool wants(plan::ListId list, uint64_t bits);
    // What the entry points at is copied; of the stack see HeldStack.
    void add(plan::ListId list, const LargestEntry& entry, symbols::Stack* stack);

    uint64_t calls(plan::ListId list) const;
    // The largest first. What they point at lives until the next change.
    std::vector<LargestEntry> entries(plan::ListId list) const;

private:
    struct Kept {
        uint64_t bits = 0, time_ns = 0;
        uint32_t pid = 0, tid = 0;
        std::string comm;
        std::vector<std::pair<std::string_view, OwnedValue>> values;  // names are the plan's
        symbols::HeldStack stack;
    };
    struct List {
        std::vector<Kept> kept;
        uint64_t calls = 0;
    };
    const plan::LargestList& plan_of(plan::ListId list) const;
    bool is_larger(plan::ListId list, uint64_t a, uint64_t b) const;
    List& list(plan::ListId list);

    const plan::Plan& plan_;
    std::vector<List> lists_;  // by ListId
};

}  // namespace mlbcc::event
