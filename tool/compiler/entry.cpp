#include "compiler/entry.h"

#include <vector>

namespace mlbcc::compiler {

namespace {

constexpr uint64_t kLargestScan = uint64_t{64} << 10;  // bytes
constexpr int kFirstInstructions = 32;

// What the whole function says of one place in it.
struct Scan {
    bool complete = false;       // every byte was read as an instruction
    bool passed_again = false;   // some branch of the function goes to the place, or shortly before
    bool computed_jump = false;  // some jump may go anywhere
};

Scan scan_function(const Disassembler& disassembler, Bytes code, uint64_t size, uint64_t place) {
    Scan scan;
    if (size == 0 || size > kLargestScan || code.size() < size) return scan;
    uint64_t offset = 0;
    while (offset < size) {
        auto at = disassembler.decode(code.first(size), offset);
        if (!at) return scan;
        auto target = disassembler.direct_target(*at);
        // One to the very beginning is a call, and would count as one there too.
        scan.passed_again |= target && *target > 0 && *target <= static_cast<int64_t>(place);
        scan.computed_jump |= disassembler.is_computed_jump(*at);
        offset += at->size;
    }
    scan.complete = true;
    return scan;
}

// The first instruction that is emulated, if all before it leave the call as it was.
std::optional<Instruction> first_emulated(const Disassembler& disassembler, Bytes code,
                                          KernelAbilities kernel) {
    uint64_t offset = 0;
    for (int i = 0; i < kFirstInstructions; ++i) {
        auto at = disassembler.decode(code, offset);
        if (!at) return std::nullopt;
        if (kernel_emulates(disassembler.architecture(), at->bytes, kernel)) return at;
        if (!disassembler.keeps_call(*at)) return std::nullopt;
        offset += at->size;
    }
    return std::nullopt;
}

// Why a call might pass the place more or less than once; "" if it cannot. Compilers put nothing
// that is jumped to right behind a function's endbr64, so there a scan that finds nothing certain
// does not count.
std::string objection(const Disassembler& disassembler, Bytes code, uint64_t size,
                      const Instruction& first, uint64_t place) {
    bool behind_pad = disassembler.is_landing_pad(first) && place == first.size;
    Scan scan = scan_function(disassembler, code, size, place);
    if (scan.passed_again) return "the function jumps back to it";
    if (behind_pad) return "";
    if (!scan.complete) return "the function cannot be read to its end";
    return scan.computed_jump ? "a computed jump may go there" : "";
}

// The conventional place. `objection`: what is wrong with a cheaper one, "" if there is none.
Entry first_entry(const Disassembler& disassembler, const Instruction& first,
                  const std::string& objection) {
    bool refused = kernel_refuses(disassembler.architecture(), first.bytes);
    std::string why = disassembler.quoted(first);
    why += refused ? ": the kernel puts no probe on it" : ": single-stepped";
    if (!objection.empty()) why += "; not " + objection;
    if (objection.empty() && !refused) why += ", no cheaper place";
    return Entry{0, why, refused, !refused};
}

}  // namespace

Entry choose_entry(const Disassembler& disassembler, Bytes code, uint64_t size,
                   KernelAbilities kernel) {
    if (size != 0 && code.size() > size) code = code.first(size);
    auto first = disassembler.decode(code, 0);
    if (!first) return Entry{0, "+0: unknown instruction"};
    auto place = first_emulated(disassembler, code, kernel);
    if (!place) return first_entry(disassembler, *first, "");
    std::string at_place = disassembler.quoted(*place);
    if (place->offset == 0) return Entry{0, at_place + ": emulated"};
    std::string no = objection(disassembler, code, size, *first, place->offset);
    if (!no.empty()) return first_entry(disassembler, *first, at_place + ": " + no);
    std::string why =
        at_place + ": emulated; " + disassembler.quoted(*first) + " would be single-stepped";
    return Entry{place->offset, why};
}

}  // namespace mlbcc::compiler
