#include "codegen/own_stack.h"

#include "base/result.h"
#include "codegen/settings.h"

namespace mlbcc::codegen {

std::string_view own_stack(ProgramKind kind) {
    // The array has one place: a call of the second one fails by one comparison.
    switch (kind) {
    case ProgramKind::session:
    case ProgramKind::entry:
    case ProgramKind::ret: return "    own_stack.call(ctx, 1);\n";
    case ProgramKind::moving_entry:
    case ProgramKind::moving_ret: return "    own_stack_moving.call(ctx, 1);\n";
    case ProgramKind::usdt: return "    own_stack_usdt.call(ctx, 1);\n";
    case ProgramKind::python: return "    own_stack_python.call(ctx, 1);\n";
    // The kernel runs no two of these at a time on a CPU.
    case ProgramKind::raw_tracepoint:
    case ProgramKind::tracepoint:
    case ProgramKind::syscall:
    case ProgramKind::kernel_session:
    case ProgramKind::kernel_entry:
    case ProgramKind::kernel_ret: return "";
    }
    MLBCC_UNREACHABLE();
}

std::string own_stack_maps(const plan::Plan& plan, const Options& options) {
    std::string out;
    if (has_kind(plan, plan::ProbeKind::function)) out += "BPF_PROG_ARRAY(own_stack, 1);\n";
    if (has_moving(plan)) out += "BPF_PROG_ARRAY(own_stack_moving, 1);\n";
    if (has_kind(plan, plan::ProbeKind::usdt)) out += "BPF_PROG_ARRAY(own_stack_usdt, 1);\n";
    if (looks_for_pythons(plan, options)) out += "BPF_PROG_ARRAY(own_stack_python, 1);\n";
    return out;
}

}  // namespace mlbcc::codegen
