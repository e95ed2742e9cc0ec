// Where the C calling conventions put a parameter: System V x86-64 and AAPCS64.
//
//   cuLaunchKernel's 9th parameter  ->  stack slot 2 on x86-64 ([rsp+24] at entry), 0 on arm64
//   ([sp])
//
// Sources: System V ABI AMD64 supplement 3.2.3, Procedure Call Standard for the Arm 64-bit
// Architecture 6.4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/types.h"

namespace mlbcc::plan {

enum class Arch { x86_64, arm64 };

struct ArgSlot {
    enum class Kind {
        none,           // a floating-point register, or a parameter that does not exist
        reg,            // integer argument register `index`
        stack,          // 64-bit word `index` above the return address (x86-64) or at sp (arm64)
        pointer,        // arm64: the register holds the address of a large struct
        stack_pointer,  // arm64: the word of the stack does
    } kind = Kind::none;
    uint32_t index = 0;
    bool operator==(const ArgSlot&) const = default;
};

// One list a parameter, one slot for each of its 64-bit words.
using ArgSlots = std::vector<std::vector<ArgSlot>>;
ArgSlots locate_arguments(const rules::Signature& signature, const rules::TypeTable& types,
                          Arch arch);

// arg(N) of a function without a prototype: integers and pointers are assumed.
ArgSlot locate_argument(uint32_t index, Arch arch);

// The slot's place among all words of arguments: registers first, then the stack.
uint32_t word_index(const ArgSlot& slot, Arch arch);
uint32_t argument_registers(Arch arch);

std::string to_text(const ArgSlot& slot);  // "r2", "s0"

}  // namespace mlbcc::plan
