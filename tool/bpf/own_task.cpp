// A program of a few instructions that the kernel runs once, in this thread (BPF_PROG_TEST_RUN of a
// raw tracepoint: Linux 5.10): what a tracer would read of a task_struct, for one whose values are
// known.
#include <bpf/bpf.h>

#include "bpf/assemble.h"
#include "bpf/kernel.h"

namespace mlbcc::bpf {
namespace {

constexpr int16_t kSlot = -8;  // of the program's stack

// *(fp - 8) = memory of the kernel at r6 + offset
void append_read(std::vector<bpf_insn>& code, int32_t bytes, uint32_t offset) {
    append(code, {instruction(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, kSlot, 0),
                  copy(BPF_REG_1, BPF_REG_10), compute(BPF_ADD, BPF_REG_1, kSlot),
                  compute(BPF_MOV, BPF_REG_2, bytes), copy(BPF_REG_3, BPF_REG_6),
                  compute(BPF_ADD, BPF_REG_3, static_cast<int32_t>(offset)),
                  call(0, BPF_FUNC_probe_read_kernel)});
}

bpf_insn load_slot(uint8_t to, int size) {
    return instruction(BPF_LDX | BPF_MEM | size, to, BPF_REG_10, kSlot, 0);
}

std::vector<bpf_insn> own_number() {
    return {call(0, BPF_FUNC_get_current_pid_tgid), compute(BPF_RSH, BPF_REG_0, 32)};
}

std::vector<bpf_insn> number_by(const TaskPlaces& at, bool of_parent) {
    std::vector<bpf_insn> code{call(0, BPF_FUNC_get_current_task), copy(BPF_REG_6, BPF_REG_0)};
    if (of_parent) {
        append_read(code, 8, at.real_parent);
        code.push_back(load_slot(BPF_REG_6, BPF_DW));
    }
    append_read(code, 4, at.tgid);
    code.push_back(load_slot(BPF_REG_0, BPF_W));
    return code;
}

Result<uint32_t> run(std::vector<bpf_insn> code) {
    code.push_back(leave());
    const UniqueFd program = load_assembled(BPF_PROG_TYPE_RAW_TRACEPOINT, "own_task", code);
    if (!program) return system_error("the kernel refuses a program that reads its own task");
    return run_once(program.get(), 0);
}

}  // namespace

Result<uint32_t> run_once(int program, uint64_t argument) {
    const uint64_t arguments[12] = {argument};  // a tracepoint has at most so many
    LIBBPF_OPTS(bpf_test_run_opts, options);
    options.ctx_in = arguments;
    options.ctx_size_in = sizeof arguments;
    if (bpf_prog_test_run_opts(program, &options) != 0) {
        return system_error("the kernel does not run a program of the tracer's");
    }
    return options.retval;
}

Result<OwnTask> read_own_task(const TaskPlaces& at) {
    const Result<uint32_t> truth = run(own_number());
    if (!truth) return truth.error();
    const Result<uint32_t> tgid = run(number_by(at, false));
    if (!tgid) return tgid.error();
    const Result<uint32_t> parent = run(number_by(at, true));
    if (!parent) return parent.error();
    return OwnTask{*truth, *tgid, *parent};
}

}  // namespace mlbcc::bpf
