// Puts the functions that programs share behind each program that calls them: libbcc makes programs
// of one function only. In the C text such a call is one of a helper with a number of its own.
//
//   call 0x7fff0102   ->   call pc+17, and at pc+17 the code of common_submit
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace mlbcc::compiler {

constexpr uint8_t kLoadImmediate64 = BPF_LD | BPF_IMM | BPF_DW;
constexpr uint8_t kCall = BPF_JMP | BPF_CALL;

using Code = std::span<const bpf_insn>;

// Number by which the C text calls a kernel function -> its BTF id in the running kernel.
using Kfuncs = std::map<int32_t, int32_t>;
// Number by which the C text calls a shared function -> its code, as libbcc made it.
using Commons = std::map<int32_t, Code>;

struct Linked {
    std::vector<bpf_insn> code;
    std::map<int32_t, size_t> places;  // of shared functions in it, by number
};

// The program with each shared function that it needs, itself or through another, once.
Linked link(Code program, const Commons& commons, const Kfuncs& kfuncs);

}  // namespace mlbcc::compiler
