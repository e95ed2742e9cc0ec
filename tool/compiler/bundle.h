// Compiled programs as bytes that can be loaded again, without a compiler: a 64-bit count, that
// many bytes of JSON, and the instructions of all programs one after another. Where an instruction
// names a map it has the map's place in the list.
//
//   {"maps":[{"name":"rings","type":12,"key_size":4,"value_size":4,"max_entries":8,"flags":0}],
//    "programs":[{"name":"shape_0","type":2,"attach_type":57,"insns":412}]}
#pragma once

#include "base/unique_fd.h"
#include "compiler/job.h"
#include "compiler/loaded.h"

namespace mlbcc::compiler {

// In memory, as a file. The maps' descriptors are those that the programs were compiled with.
Result<UniqueFd> bundle_of(const Job& job, const LoadedJob& loaded);

}  // namespace mlbcc::compiler
