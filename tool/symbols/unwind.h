// Walks up a stack: registers and the piece of stack memory that the kernel copied into a record ->
// the return addresses of its callers, innermost first. By call frame information where there is
// some, by frame pointers elsewhere (code made at run time).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "symbols/cfi.h"

namespace mlbcc::symbols {

inline constexpr size_t kMaxStackFrames = 64;
// Stands in the place of an address at the end of a walk that did not come to the outermost frame.
enum class Cut : uint64_t {
    lost,  // what comes next is no code, or further down the stack
    copy,  // it lies above the piece of the stack that was copied
    file,  // it lies behind code of a file that was not read: what its frames are is not known
    deep,  // there are more than kMaxStackFrames
};
constexpr std::optional<Cut> cut_at(uint64_t address) {
    return address <= uint64_t(Cut::deep) ? std::optional(Cut(address)) : std::nullopt;
}

// A copy of stack memory; reading outside it gives nothing.
struct StackMemory {
    uint64_t start = 0;  // address of the first byte
    std::span<const std::byte> bytes;
    std::span<const std::byte> more;  // what lies above those
    mutable bool ended = false;       // what was read lies above it
    std::optional<uint64_t> word(uint64_t address) const;
};

// What a record has of a stack.
struct UserStackCopy {
    plan::UserStack from;
    std::span<const std::byte> memory;        // from from.sp upward
    std::span<const std::byte> returns = {};  // of plan::AwaitedReturn, innermost first
    std::span<const std::byte> more = {};     // what lies above `memory`
};

struct Registers {
    static constexpr size_t kCount = 34;
    std::array<uint64_t, kCount> value{};
    uint64_t known = 0;  // a bit each
    void set(size_t reg, uint64_t to) {
        value[reg] = to;
        known |= uint64_t{1} << reg;
    }
    void forget(size_t reg) { known &= ~(uint64_t{1} << reg); }
    std::optional<uint64_t> get(size_t reg) const {
        if (reg >= kCount || (known >> reg & 1) == 0) return std::nullopt;
        return value[reg];
    }
};

// What the walk asks about an address of the process.
class CodeFinder {
public:
    struct Code {
        bool executable = false;
        Cfi* cfi = nullptr;    // null: no call frame information
        uint64_t address = 0;  // in the file's own terms
        bool unread = false;   // of a file that could not be read
    };
    virtual ~CodeFinder() = default;
    virtual Code code_at(uint64_t address) = 0;
};

class Unwinder {
public:
    explicit Unwinder(plan::Arch arch);
    // `out` is emptied first; from.ip is its first address, all others are in code. Ends in a Cut
    // where the outermost frame was not reached. Where the kernel's trampoline stands in the place
    // of a return address, the copy tells what it stands for.
    void walk(const UserStackCopy& copy, CodeFinder& finder, std::vector<uint64_t>& out) const;

private:
    enum class Step { caller, outermost, stuck };
    struct Frame {
        Registers regs;
        uint64_t pc = 0;
        bool innermost = true;
        bool interrupted = false;  // pc is the next instruction, not a return address
        bool guessed = false;      // it was come to through code of a file that was not read
        CodeFinder::Code code;     // that pc belongs to
    };
    bool may_be_leaf(const Frame& frame) const;
    Registers first_registers(const plan::UserStack& from) const;
    // Turns a frame into its caller's, which is in code and further up the stack.
    Step step(Frame& frame, const UserStackCopy& copy, const StackMemory& memory,
              CodeFinder& finder) const;
    Step step_by_cfi(Frame& frame, const CfiRow& row, const StackMemory& memory) const;
    Step step_by_frame_pointer(Frame& frame, const StackMemory& memory) const;
    uint64_t plain_address(uint64_t address) const;
    bool is_trampoline(uint64_t address) const;
    void find_return(Frame& frame, const UserStackCopy& copy) const;

    plan::Arch arch_;
    std::vector<uint8_t> followed_;  // DWARF numbers of the registers that calls preserve, and sp
    uint8_t sp_, frame_pointer_;
};

// A DWARF expression (DWARF 5 section 2.5) as call frame information uses it. Nullopt where it
// reads what is not known, or for an operation that such expressions do not have.
std::optional<uint64_t> evaluate(std::span<const Dwarf_Op> expression, const Registers& regs,
                                 std::optional<uint64_t> cfa, const StackMemory& memory);

}  // namespace mlbcc::symbols
