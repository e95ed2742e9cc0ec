// Where calls of a function end, without a return probe: the instructions that return, and the
// jumps that leave the function for another one, whose ends are those of the call then.
//
//   {"code":"<hex>","size":30,"ends":true}                     among "functions" of "entries"
//   ->  {..., "ends":{"returns":[29],"jumps":[-64],"unknown":""}}
//
// "size" 0: it is not known, and what can be reached from its beginning is followed as far as
// "code" goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/machine_code.h"

namespace mlbcc::compiler {

struct Ends {
    std::vector<uint64_t> returns;  // bytes from the function's beginning
    std::vector<int64_t> jumps;     // likewise, to places that are not in the code
    std::string unknown;            // why there are, or may be, more; "" where these are all
};

Ends find_ends(const Disassembler& disassembler, Bytes code, uint64_t size);

}  // namespace mlbcc::compiler
