// What clang or the kernel's verifier refuses of the generated C, told of the rules and templates
// that it is from:
//
//   error: R0 invalid mem access 'scalar'
//     --> mine/probes/fd_closed.bpf.c:11:5
//      |
//   11 |     fields.fd = *(int *)at->args[1];
//      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the verifier gave up here
//      = note: the last instructions that it looked at:
//              ; fields.fd = *(int *)at->args[1];
//              12: (61) r1 = *(u32 *)(r0 +0)         ; R0_w=scalar()
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "bpf/compiler.h"
#include "codegen/codegen.h"
#include "kernel/kernel_release.h"
#include "load/frontend.h"

namespace mlbcc::load {

struct Refused {
    // As it is with debug information, if that is refused, too: lines are then those of
    // codegen::numbered().
    bpf::CompileError error;
    std::string told;  // the diagnostics, as they stand on standard error
    Error summary;     // what to tell last
};

// Compiles it once more, for the lines.
Refused explain_refusal(const Frontend& frontend, const bpf::CompileRequest& request,
                        const codegen::Program& program, bpf::CompileError first);

// What to tell last where the text is mlbcc's own. `refused_by` is the kernel; 0.0: clang did.
Error defect_of_ours(const std::string& what, const kernel::KernelRelease& refused_by);

// Such as the request, with debug information and `#line`s that number the source.
bpf::CompileRequest with_lines(bpf::CompileRequest request, const codegen::Program& program);

}  // namespace mlbcc::load
