// BPF instructions of the few programs that are the same for all rules and need no compiler.
#pragma once

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/unique_fd.h"

namespace mlbcc::bpf {

inline bpf_insn instruction(int code, uint8_t to, uint8_t from, int16_t offset, int32_t value) {
    bpf_insn made{};
    made.code = static_cast<uint8_t>(code);
    made.dst_reg = to & 15u;
    made.src_reg = from & 15u;
    made.off = offset;
    made.imm = value;
    return made;
}
inline bpf_insn copy(uint8_t to, uint8_t from) {
    return instruction(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}
inline bpf_insn compute(int operation, uint8_t to, int32_t value) {
    return instruction(BPF_ALU64 | operation | BPF_K, to, 0, 0, value);
}
inline bpf_insn call(uint8_t kind, int32_t number) {  // kind: 0 helper, BPF_PSEUDO_KFUNC_CALL
    return instruction(BPF_JMP | BPF_CALL, 0, kind, 0, number);
}
inline bpf_insn leave() {
    return instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}
inline void append(std::vector<bpf_insn>& code, std::initializer_list<bpf_insn> more) {
    code.insert(code.end(), more);
}
// Sets the first of the registers to which `context` points to what it is: r2 is lost.
inline void append_register_write(std::vector<bpf_insn>& code, uint8_t context) {
    append(code, {instruction(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_2, context, 0, 0),
                  instruction(BPF_STX | BPF_MEM | BPF_DW, context, BPF_REG_2, 0, 0)});
}
// None, with errno, where the kernel refuses it.
inline UniqueFd load_assembled(bpf_prog_type type, const char* name, std::span<const bpf_insn> code,
                               uint32_t attach_type = 0, uint32_t flags = 0) {
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    options.expected_attach_type = static_cast<bpf_attach_type>(attach_type);
    options.prog_flags = flags;
    const int made = bpf_prog_load(type, name, "GPL", code.data(), code.size(), &options);
    if (made < 0) errno = -made;
    return UniqueFd(made);
}
inline std::vector<bpf_insn> doing_nothing() {
    return {compute(BPF_MOV, BPF_REG_0, 0), leave()};
}
// A program that does no more, to find out whether the kernel lets it.
inline std::vector<bpf_insn> setting_a_register() {
    std::vector<bpf_insn> code;
    append_register_write(code, BPF_REG_1);
    append(code, {compute(BPF_MOV, BPF_REG_0, 0), leave()});
    return code;
}

}  // namespace mlbcc::bpf
