#include "compiler/ends.h"

#include <algorithm>
#include <deque>
#include <set>

namespace mlbcc::compiler {

namespace {

constexpr size_t kLookBack = 8;  // instructions in which a jump table's place is computed

class EndFinder {
public:
    EndFinder(const Disassembler& disassembler, Bytes code)
        : disassembler_(disassembler), code_(code) {}

    // Instruction by instruction: all that a function of a known size has.
    Ends whole() {
        uint64_t offset = 0;
        while (offset < code_.size()) {
            auto at = disassembler_.decode(code_, offset);
            if (!at) return unknown("it cannot be read at +" + std::to_string(offset));
            take(*at);
            before_.push_back(std::move(*at));
            if (before_.size() > kLookBack) before_.pop_front();
            offset = before_.back().offset + before_.back().size;
        }
        return sorted();
    }

    Ends reached() {
        std::vector<uint64_t> from{0};
        while (!from.empty()) {
            uint64_t offset = from.back();
            from.pop_back();
            before_.clear();
            while (seen_.insert(offset).second) {
                auto at = disassembler_.decode(code_, offset);
                if (!at) return unknown("it cannot be read at +" + std::to_string(offset));
                if (disassembler_.is_computed_jump(*at))
                    return unknown(disassembler_.quoted(*at) + " goes where is not known");
                take(*at);
                if (auto target = disassembler_.jump_target(*at); target && is_inside(*target))
                    from.push_back(static_cast<uint64_t>(*target));
                if (disassembler_.never_goes_on(*at)) break;
                offset += at->size;
            }
        }
        return sorted();
    }

private:
    bool is_inside(int64_t target) const {
        return target >= 0 && target < static_cast<int64_t>(code_.size());
    }

    void take(const Instruction& at) {
        if (disassembler_.is_return(at)) {
            ends_.returns.push_back(at.offset);
        } else if (auto target = disassembler_.jump_target(at)) {
            if (!is_inside(*target))
                ends_.jumps.push_back({at.offset, *target, disassembler_.condition(at)});
        } else if (disassembler_.is_pointer_jump(at) ||
                   (disassembler_.is_computed_jump(at) && !is_by_table(at))) {
            if (ends_.pointers.empty()) ends_.pointer = disassembler_.quoted(at);
            ends_.pointers.push_back(at.offset);
        }
    }

    // Whether a computed jump goes to a place of the function's own: one that is taken from a
    // table.
    bool is_by_table(const Instruction& jump) const {
        if (disassembler_.takes_from_table(jump)) return true;
        return std::ranges::any_of(
            before_, [&](const Instruction& one) { return disassembler_.takes_from_table(one); });
    }

    Ends unknown(std::string why) {
        ends_.unknown = std::move(why);
        return std::move(ends_);
    }

    Ends sorted() {
        std::ranges::sort(ends_.returns);
        std::ranges::sort(ends_.jumps, {}, &Jump::at);
        return std::move(ends_);
    }

    const Disassembler& disassembler_;
    Bytes code_;
    std::deque<Instruction> before_;
    std::set<uint64_t> seen_;
    Ends ends_;
};

}  // namespace

Ends find_ends(const Disassembler& disassembler, Bytes code, uint64_t size) {
    if (size == 0) return EndFinder(disassembler, code).reached();
    if (code.size() < size) return {.unknown = "it is too large to be searched"};
    return EndFinder(disassembler, code.first(size)).whole();
}

}  // namespace mlbcc::compiler
