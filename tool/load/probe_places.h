// Where in functions their probes go: the instruction at which a call begins for us, and where no
// return probe may be, those at which it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bpf/kernel.h"
#include "bpf/remembering_compiler.h"
#include "plan/plan.h"
#include "target/target.h"

namespace mlbcc::load {

struct EntryPlace {
    uint64_t offset = 0;  // bytes from the function's beginning
    std::string why;
    bool refused = false;  // the kernel probes no such instruction, and would refuse all with it
    bool stepped = false;  // it single-steps the instruction
    // Of functions that end at instructions: in the file, or why not all of them are known.
    std::vector<bpf::Site::End> ends;
    std::string no_end;
    // Why a call is taken to end where it leaves for another function: "it jumps by +3 `jmpq
    // *%rax`".
    std::string leaves;
    std::optional<codegen::Role> role;  // of where it begins: bpf::Site
};

// Of the plan's probes from `first` on; `places` has one for each probe of the plan. `exact`: calls
// begin at their first byte, wherever that is possible.
Result<void> choose_places(const plan::Plan& plan, size_t first, bool exact, target::Host& from,
                           bpf::RememberingCompiler& compiler, std::vector<EntryPlace>& places);

}  // namespace mlbcc::load
