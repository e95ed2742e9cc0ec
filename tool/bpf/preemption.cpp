#include "bpf/preemption.h"

#include <bpf/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "bpf/assemble.h"

namespace mlbcc::bpf {
namespace {

constexpr int16_t kCount = -8, kKey = -16;     // of the program's stack
constexpr int32_t kReasons = 0xff;             // linux/preempt.h: PREEMPT_MASK
constexpr uint64_t kPreempted = 1, kHeld = 2;  // what the program says

// *(u32 *)(fp - 8) = the count
std::vector<bpf_insn> read_count(const TypePlaces& types) {
    if (types.preempt_count) {
        return {instruction(BPF_LD | BPF_DW, BPF_REG_1, BPF_PSEUDO_BTF_ID, 0,
                            static_cast<int32_t>(*types.preempt_count)),
                instruction(0, 0, 0, 0, 0), call(0, BPF_FUNC_this_cpu_ptr),
                instruction(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_1, BPF_REG_0, 0, 0),
                instruction(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_1, kCount, 0)};
    }
    return {instruction(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, kCount, 0),
            call(0, BPF_FUNC_get_current_task),
            copy(BPF_REG_3, BPF_REG_0),
            compute(BPF_ADD, BPF_REG_3, static_cast<int32_t>(*types.task_preempt_offset)),
            copy(BPF_REG_1, BPF_REG_10),
            compute(BPF_ADD, BPF_REG_1, kCount),
            compute(BPF_MOV, BPF_REG_2, 4),
            call(0, BPF_FUNC_probe_read_kernel)};
}

// answer[0] = the count's reasons == 0 ? kPreempted : kHeld
std::vector<bpf_insn> saying(const TypePlaces& types, int answer) {
    std::vector<bpf_insn> code = read_count(types);
    append(code, {instruction(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_6, BPF_REG_10, kCount, 0),
                  compute(BPF_AND, BPF_REG_6, kReasons),
                  instruction(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, kKey, 0),
                  instruction(BPF_LD | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, answer),
                  instruction(0, 0, 0, 0, 0), copy(BPF_REG_2, BPF_REG_10),
                  compute(BPF_ADD, BPF_REG_2, kKey), call(0, BPF_FUNC_map_lookup_elem),
                  instruction(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 4, 0),
                  compute(BPF_MOV, BPF_REG_1, kPreempted),
                  instruction(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_6, 0, 1, 0),
                  compute(BPF_MOV, BPF_REG_1, kHeld),
                  instruction(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_1, 0, 0),
                  compute(BPF_MOV, BPF_REG_0, 0), leave()});
    return code;
}

}  // namespace

bool preempts_raw_tracepoints(const TypePlaces& types) {
    if (!types.preempt_count && !types.task_preempt_offset) return false;
    Map answer(UniqueFd(bpf_map_create(BPF_MAP_TYPE_ARRAY, "mlbcc_try", 4, 8, 1, nullptr)), 4, 8);
    if (answer.fd() < 0) return false;
    const std::vector<bpf_insn> code = saying(types, answer.fd());
    const UniqueFd program = load_assembled(BPF_PROG_TYPE_RAW_TRACEPOINT, "mlbcc_try", code);
    if (!program) return false;
    const Result<Attachment> attached = Attachment::raw_tracepoint(program.get(), "sys_enter");
    if (!attached) return false;
    ::syscall(SYS_getppid);
    const uint32_t key = 0;
    const auto said = answer.lookup(&key);
    return said && (*said)[0] == std::byte{kPreempted};
}

}  // namespace mlbcc::bpf
