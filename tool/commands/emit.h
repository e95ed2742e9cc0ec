// The generated programs as text: C, C with the rules beside it, or BPF instructions.
//
//   shape_0, 57 instructions
//   ; probe_templates/entry.bpf.c:6: if (!mlbcc_enter(&call)) return 1;
//      0: r6 = r1
//   ; my.rules:2: bytesize > 1
//      ; u64 v0 = ...
#pragma once

#include <string>
#include <vector>

#include "bpf/compiler.h"
#include "codegen/codegen.h"
#include "load/frontend.h"

namespace mlbcc::commands {

std::string assembly(const load::Frontend& frontend, const codegen::Program& program,
                     const std::vector<bpf::CompiledProgram>& programs);

}  // namespace mlbcc::commands
