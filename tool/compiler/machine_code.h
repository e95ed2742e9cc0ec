// Machine code as LLVM's disassembler sees it, one instruction at a time: where it may go, what it
// changes, how it is written.
#pragma once

#include <llvm/MC/MCInst.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mlbcc::compiler {

enum class Architecture { x86_64, aarch64 };
std::optional<Architecture> architecture_named(std::string_view name);  // as uname -m has it

using Bytes = std::span<const uint8_t>;

struct Instruction {
    uint64_t offset = 0, size = 0;  // bytes, from the function's beginning
    Bytes bytes;
    std::string prefix;  // "lock ": what LLVM takes for an instruction of its own
    llvm::MCInst inst;
};

class Disassembler {
public:
    static Result<Disassembler> create(Architecture architecture);
    Disassembler(Disassembler&&) noexcept;
    Disassembler& operator=(Disassembler&&) = delete;
    ~Disassembler();

    // The instruction at `offset`; nullopt where the bytes are none, or end too early.
    std::optional<Instruction> decode(Bytes code, uint64_t offset) const;
    std::string text(const Instruction& instruction) const;    // "cmpl $5, 8(%rip)"
    std::string quoted(const Instruction& instruction) const;  // "+10 `cmpl $5, 8(%rip)`"

    // Does a call look the same after it: argument registers, stack pointer and memory as before,
    // and the next instruction the one that follows?
    bool keeps_call(const Instruction& instruction) const;
    bool is_landing_pad(const Instruction& instruction) const;  // endbr64, bti
    // Where a direct branch or call goes, as an offset in the function (below 0 or above its size:
    // elsewhere).
    std::optional<int64_t> direct_target(const Instruction& instruction) const;
    // A jump to a computed address, which may be one in the function itself. Not so one through a
    // pointer in memory at a fixed place (`jmp *table(%rip)`): that leaves the function.
    bool is_computed_jump(const Instruction& instruction) const;
    bool is_pointer_jump(const Instruction& instruction) const;  // such a one

    bool is_return(const Instruction& instruction) const;
    // Where a direct jump goes that is no call, as direct_target().
    std::optional<int64_t> jump_target(const Instruction& instruction) const;
    // x86-64's number of what the flags must be for a jump, 0 to 15; -1: of another instruction.
    int condition(const Instruction& instruction) const;
    // What follows it is not carried out next: a jump, a return, a trap.
    bool never_goes_on(const Instruction& instruction) const;
    // Whether it jumps by a table, or reads an entry of what may be one: an element by its index.
    bool takes_from_table(const Instruction& instruction) const;

    Architecture architecture() const;

private:
    struct Parts;
    std::optional<Instruction> decode_one(Bytes code, uint64_t offset) const;
    explicit Disassembler(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace mlbcc::compiler
