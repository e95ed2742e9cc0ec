// The JSON that mlbcc-bcc's C parser (libclang) sends, as a TypeTable:
//
//   {"types":[{"kind":"int","size":8,"signed":false,"spelling":"CUdeviceptr","address":true}, ...],
//    "functions":[{"name":"cuMemAlloc_v2","ret":3,"params":[{"name":"dptr","type":7}],
//                  "variadic":false,"file":"types/cuda_driver.h","line":31,"column":10}],
//    "diagnostics":[{"severity":"error","file":"cuda.rules","line":3,"column":5,"message":"..."}],
//    "files":["/usr/share/mlbcc/rules/types/cuda_driver.h"]}
//
// kinds: void, bool, int {size, signed, char?}, float {size}, enum {size, signed,
// constants:[["A",0]]}, pointer {to, const}, array {of, count}, record {union, complete, size,
// fields:[{"name","type", "offset","bit_offset"?,"bit_width"?}]}, function. `address` and `bytes`
// mark the typedefs that CType::is_address and CType::is_byte_count speak of. A type is named by
// its index.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/rules.h"
#include "rules/types.h"
#include "text/diagnostic.h"

namespace mlbcc::rules {

// Mistakes that libclang found in the rule files' own declarations or in a header become
// diagnostics, at their place where that is in a rule file. An Error means broken JSON.
Result<TypeTable> read_types(std::string_view json, const RuleSet& rules, Diagnostics& diagnostics);

// The headers that were read for it, those that headers include among them.
Result<std::vector<std::string>> read_files(std::string_view json);

// The same of text that includes the kernel's headers, behind what `types` has already: the type of
// `task` in `void mlbcc_task(struct task_struct *task);`. An Error is the first mistake in them.
Result<TypeId> read_task(std::string_view json, TypeTable& types);
inline constexpr const char* kTaskPrototype = "mlbcc_task";

// Which fields of the kernel's structures rules may ask for, by the words in them:
//
//   event e(parent = task->real_parent->tgid)  ->  names_task, members {real_parent, tgid}
//
// More than they do ask for, perhaps: a structure of the program's has fields, too.
struct TaskWords {
    bool names_task = false;
    std::set<std::string, std::less<>> members;  // behind `.` and `->`
};
TaskWords task_words(const RuleSet& rules);

}  // namespace mlbcc::rules
