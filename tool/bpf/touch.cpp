#include <linux/ptrace.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "bpf/assemble.h"
#include "bpf/kernel.h"
#include "bpf/touching.h"

namespace mlbcc::bpf {
namespace {

// Where in struct pt_regs the registers of arguments are.
#if defined(__x86_64__)
constexpr std::array<int16_t, 6> kArguments = {112, 104, 96, 88, 72, 64};  // di si dx cx r8 r9
#elif defined(__aarch64__)
constexpr std::array<int16_t, 8> kArguments = {0, 8, 16, 24, 32, 40, 48, 56};
#endif

// The cookie: which arguments point to text, a bit for each, and above them its bytes.
constexpr unsigned kBytesShift = 32;

// For each of these: copy_from_user(fp - 8, 1, its first byte), and likewise of its last one.
std::vector<bpf_insn> touching_code() {
    std::vector<bpf_insn> code{copy(BPF_REG_6, BPF_REG_1), call(0, BPF_FUNC_get_attach_cookie),
                               copy(BPF_REG_7, BPF_REG_0), copy(BPF_REG_8, BPF_REG_0),
                               compute(BPF_RSH, BPF_REG_8, kBytesShift)};
    for (size_t i = 0; i < kArguments.size(); ++i) {
        append(code,
               {instruction(BPF_JMP | BPF_JSET | BPF_K, BPF_REG_7, 0, 1, 1 << i),
                instruction(BPF_JMP | BPF_JA, 0, 0, 12, 0),
                instruction(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_9, BPF_REG_6, kArguments[i], 0),
                copy(BPF_REG_3, BPF_REG_9)});
        append_touch(code, 1);
        append(code, {copy(BPF_REG_3, BPF_REG_9),
                      instruction(BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_3, BPF_REG_8, 0, 0)});
        append_touch(code, 1);
    }
    append(code, {compute(BPF_MOV, BPF_REG_0, 0), leave()});
    return code;
}

}  // namespace

std::optional<Attachment> Attachment::touch_texts(const std::string& path,
                                                  std::span<const Site> sites,
                                                  codegen::AttachMode mode) {
    std::vector<TouchingSite> touching;
    for (const Site& site : sites) {
        const uint64_t words = site.probe->text_words & ((1u << kArguments.size()) - 1);
        const uint64_t last = std::max(1u, site.probe->text_bytes) - 1;
        if (words != 0) touching.push_back({site.offset, last << kBytesShift | words});
    }
    if (touching.empty()) return std::nullopt;
    Attachment made;
    made.links_ = attach_touching(path, "touch_texts", touching_code(), touching, mode);
    if (made.links_.empty()) return std::nullopt;
    return made;
}

}  // namespace mlbcc::bpf
