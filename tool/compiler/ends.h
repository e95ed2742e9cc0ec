// Where calls of a function end, without a return probe: the instructions that return, and the
// jumps that leave the function for another one, whose ends are those of the call then.
//
//   {"code":"<hex>","size":30,"ends":true}                     among "functions" of "entries"
//   ->  {..., "ends":{"returns":[29],"jumps":[{"at":7,"to":-64,"condition":5}],
//                        "pointers":[16],"pointer":"+16 `jmpq *%rax`","unknown":""}}
//
// "size" 0: it is not known, and what can be reached from its beginning is followed as far as
// "code" goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/machine_code.h"

namespace mlbcc::compiler {

// Bytes are from the function's beginning.
struct Jump {
    uint64_t at = 0;  // the instruction
    int64_t to = 0;   // a place that is not in the code
    // x86-64's number of what the flags must be ("jne" 5); below 0: it always jumps, or what it
    // asks is not known.
    int condition = -1;
};
struct Ends {
    std::vector<uint64_t> returns;
    std::vector<Jump> jumps;
    std::vector<uint64_t> pointers;  // jumps to where is not known, not by a table
    std::string pointer;             // the first of them, for a person
    std::string unknown;             // why there are, or may be, more; "" where these are all
};

Ends find_ends(const Disassembler& disassembler, Bytes code, uint64_t size);

}  // namespace mlbcc::compiler
