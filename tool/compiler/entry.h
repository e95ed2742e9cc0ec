// Where in a function to put the probe on its entry: on the first instruction that the kernel
// emulates, if every call passes it just once, with arguments and stack as the caller left them.
//
//   +0  cmpl $0x321cba00, x(%rip)     a trap here is single-stepped
//   +10 je +24                        here it is emulated: 6 times cheaper  -> 10
//
//   {"request":"entries","arch":"x86_64","functions":[{"code":"<base64>","size":30}, ...]}
//   ->
//   {"ok":true,"entries":[{"offset":10,"why":"+10 `je 12`: emulated; ...","refused":false,
//                          "stepped":false}]}
//
// "size" is the function's; "code" may be only its beginning. "long_nops" (true, false; absent:
// what the running kernel can) is for tests. "ends" asks for ends.h, too.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/emulation.h"
#include "compiler/machine_code.h"
#include "compiler/reply.h"

namespace mlbcc::compiler {

struct Entry {
    uint64_t offset = 0;   // bytes from the function's beginning
    std::string why;       // for a person
    bool refused = false;  // the kernel puts no probe there, and there is no other place
    bool stepped = false;  // the kernel single-steps the instruction
};

Entry choose_entry(const Disassembler& disassembler, Bytes code, uint64_t size,
                   KernelAbilities kernel);

Reply choose_entries(const JsonValue& request);

}  // namespace mlbcc::compiler
