#include <asm/ptrace.h>
#include <bpf/bpf.h>

#include <cstddef>

#include "bpf/assemble.h"
#include "bpf/kernel.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

// r3 = (cookie >> shift) & 0xffff
void shape_from_cookie(std::vector<bpf_insn>& code, unsigned shift) {
    append(code,
           {copy(BPF_REG_3, BPF_REG_0), compute(BPF_RSH, BPF_REG_3, static_cast<int32_t>(shift)),
            compute(BPF_AND, BPF_REG_3, 0xffff)});
}

// tail_call(ctx, table, r3); return `otherwise`
void pass_on(std::vector<bpf_insn>& code, int table, int32_t otherwise) {
    append(code, {copy(BPF_REG_1, BPF_REG_6),
                  instruction(BPF_LD | BPF_DW, BPF_REG_2, BPF_PSEUDO_MAP_FD, 0, table),
                  instruction(0, 0, 0, 0, 0), call(0, BPF_FUNC_tail_call),
                  compute(BPF_MOV, BPF_REG_0, otherwise), leave()});
}

// Where the kernel keeps its trampoline for return probes: a process's last page (args_*.h).
#if defined(__x86_64__)
constexpr uint64_t kTrampolines = 0x7fffffff0000;
#else
constexpr uint64_t kTrampolines = 0xffffffff0000;
#endif

// r1 = the address that the function whose beginning r6 is will return to
void return_address(std::vector<bpf_insn>& code) {
#if defined(__x86_64__)
    append(
        code,
        {instruction(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0), copy(BPF_REG_1, BPF_REG_10),
         compute(BPF_ADD, BPF_REG_1, -8), compute(BPF_MOV, BPF_REG_2, 8),
         instruction(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_3, BPF_REG_6, offsetof(pt_regs, rsp), 0),
         call(0, BPF_FUNC_probe_read_user),
         instruction(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, -8, 0)});
#else
    append(code, {instruction(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_6,
                              offsetof(user_pt_regs, regs) + 30 * sizeof(uint64_t), 0)});
#endif
}

// Ends, at the beginning (r7 is 0) of a call that a function with a return probe has jumped to.
void leave_jumps(std::vector<bpf_insn>& code) {
    std::vector<bpf_insn> test;
    return_address(test);
    const auto low = static_cast<int32_t>(kTrampolines & 0xffffffff);
    append(test, {instruction(BPF_LD | BPF_DW, BPF_REG_2, 0, 0, low),
                  instruction(0, 0, 0, 0, static_cast<int32_t>(kTrampolines >> 32)),
                  instruction(BPF_JMP | BPF_JLT | BPF_X, BPF_REG_1, BPF_REG_2, 2, 0),
                  compute(BPF_MOV, BPF_REG_0, 1), leave()});
    code.push_back(
        instruction(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_7, 0, static_cast<int16_t>(test.size()), 0));
    code.insert(code.end(), test.begin(), test.end());
}

// While there is nothing to pass a call on to, its return is not probed: 1.
std::vector<bpf_insn> session_code(uint32_t is_return, int table, bool but_for_jumps) {
    std::vector<bpf_insn> code{
        copy(BPF_REG_6, BPF_REG_1),
        call(BPF_PSEUDO_KFUNC_CALL, static_cast<int32_t>(is_return)),
        copy(BPF_REG_7, BPF_REG_0),
        compute(BPF_AND, BPF_REG_7, 1),
    };
    if (but_for_jumps) leave_jumps(code);
    append(code, {
                     copy(BPF_REG_1, BPF_REG_6),
                     call(0, BPF_FUNC_get_attach_cookie),
                     instruction(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_7, 0, 4, 0),
                 });
    shape_from_cookie(code, codegen::kReturnShapeShift);
    append(code, {instruction(BPF_JMP | BPF_JA, 0, 0, 3, 0)});
    shape_from_cookie(code, codegen::kEntryShapeShift);
    pass_on(code, table, 1);
    return code;
}

// The kernel lets a program that sets registers be called by one that does so only.
std::vector<bpf_insn> one_end_code(unsigned shift, int table, bool sets_registers) {
    std::vector<bpf_insn> code{copy(BPF_REG_6, BPF_REG_1)};
    if (sets_registers) append_register_write(code, BPF_REG_6);
    code.push_back(call(0, BPF_FUNC_get_attach_cookie));
    shape_from_cookie(code, shift);
    pass_on(code, table, 0);
    return code;
}

Result<UniqueFd> load(const char* name, std::span<const bpf_insn> code, uint32_t attach_type) {
    UniqueFd program = load_assembled(BPF_PROG_TYPE_KPROBE, name, code, attach_type);
    if (program) return program;
    return system_error(std::string("cannot load the BPF program ") + name,
                        errno == EPERM ? "run as root, or with CAP_BPF and CAP_PERFMON" : "");
}

}  // namespace

Result<Dispatcher> Dispatcher::make(codegen::Side side, codegen::AttachMode mode,
                                    const Features& features, size_t shapes) {
    Dispatcher made;
    MLBCC_CHECK(mode != codegen::AttachMode::perf);  // each function has a link of its own there
    made.table_.reset(bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "mlbcc_shapes", 4, 4,
                                     static_cast<uint32_t>(shapes == 0 ? 1 : shapes), nullptr));
    if (!made.table_) {
        return system_error("cannot make a BPF map", "run as root, or with CAP_BPF");
    }
    auto add = [&](rules::Stage end, const char* name,
                   std::span<const bpf_insn> code) -> Result<void> {
        Result<UniqueFd> program = load(name, code, expected_attach_type(side, mode));
        if (!program) return program.error();
        made.programs_.emplace(codegen::program_kind(side, mode, end), std::move(*program));
        return {};
    };
    int table = made.table_.get();
    if (mode == codegen::AttachMode::session) {
        const uint32_t is_return = features.session_is_return;
        auto done = add(rules::Stage::entry, "on_call", session_code(is_return, table, false));
        if (!done) return done.error();
        made.session_is_return_ = is_return;
        return made;
    }
    auto entry =
        add(rules::Stage::entry, "on_entry", one_end_code(codegen::kEntryShapeShift, table, false));
    if (!entry) return entry.error();
    const bool returns =
        side == codegen::Side::moving && features.sets_registers && features.return_places;
    auto leave = add(rules::Stage::ret, "on_return",
                     one_end_code(codegen::kReturnShapeShift, table, returns));
    if (!leave) return leave.error();
    return made;
}

Programs Dispatcher::programs() const {
    Programs all;
    for (const auto& [kind, program] : programs_) all.emplace(kind, program.get());
    return all;
}

Result<Programs> Dispatcher::programs_but_for_jumps() {
    if (!session_is_return_) return Error{"this kernel has no uprobe session links"};
    if (!but_for_jumps_) {
        Result<UniqueFd> made =
            load("on_other_call", session_code(*session_is_return_, table_.get(), true),
                 expected_attach_type(codegen::Side::user, codegen::AttachMode::session));
        if (!made) return made.error();
        but_for_jumps_ = std::move(*made);
    }
    return Programs{{codegen::ProgramKind::session, but_for_jumps_.get()}};
}

int Dispatcher::table_of(const LoadedProgram& loaded, const codegen::Function& function) const {
    if (function.table.empty()) return table_.get();
    auto named = loaded.maps.find(function.table);
    return named == loaded.maps.end() ? -1 : named->second.fd();
}

Result<void> Dispatcher::connect(const LoadedProgram& loaded, const codegen::Program& program) {
    if (!table_) return {};
    for (const codegen::Function& function : program.functions) {
        // System calls and tracepoints have programs of other types, and ways of their own.
        if (!programs_.contains(function.kind)) continue;
        const int fd = loaded.program(function.name);
        for (const uint32_t slot : function.slots) {
            if (bpf_map_update_elem(table_of(loaded, function), &slot, &fd, BPF_ANY) != 0)
                return system_error("cannot connect the program " + function.name);
        }
    }
    return {};
}

}  // namespace mlbcc::bpf
