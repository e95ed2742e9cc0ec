#include <bpf/bpf.h>
#include <linux/ptrace.h>

#include <array>
#include <cstddef>

#include "bpf/assemble.h"
#include "bpf/kernel.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

// Where in struct pt_regs the registers of arguments are.
#if defined(__x86_64__)
constexpr std::array<int16_t, 6> kArguments = {112, 104, 96, 88, 72, 64};  // di si dx cx r8 r9
#elif defined(__aarch64__)
constexpr std::array<int16_t, 8> kArguments = {0, 8, 16, 24, 32, 40, 48, 56};
#endif

// For each bit i of the cookie: copy_from_user(fp - 8, 1, argument i)
std::vector<bpf_insn> touching_code() {
    std::vector<bpf_insn> code{copy(BPF_REG_6, BPF_REG_1), call(0, BPF_FUNC_get_attach_cookie),
                               copy(BPF_REG_7, BPF_REG_0)};
    for (size_t i = 0; i < kArguments.size(); ++i) {
        append(code,
               {instruction(BPF_JMP | BPF_JSET | BPF_K, BPF_REG_7, 0, 1, 1 << i),
                instruction(BPF_JMP | BPF_JA, 0, 0, 5, 0), copy(BPF_REG_1, BPF_REG_10),
                compute(BPF_ADD, BPF_REG_1, -8), compute(BPF_MOV, BPF_REG_2, 1),
                instruction(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_3, BPF_REG_6, kArguments[i], 0),
                call(0, BPF_FUNC_copy_from_user)});
    }
    append(code, {compute(BPF_MOV, BPF_REG_0, 0), instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)});
    return code;
}

}  // namespace

std::optional<Attachment> Attachment::touch_texts(const std::string& path,
                                                  std::span<const Site> sites) {
    std::vector<uint64_t> offsets, cookies;
    for (const Site& site : sites) {
        uint64_t words = site.probe->text_words & ((1u << kArguments.size()) - 1);
        if (words == 0) continue;
        offsets.push_back(site.offset);
        cookies.push_back(words);
    }
    if (offsets.empty()) return std::nullopt;
    std::vector<bpf_insn> code = touching_code();
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    options.expected_attach_type = static_cast<bpf_attach_type>(sys::kUprobeMulti);
    options.prog_flags = BPF_F_SLEEPABLE;
    UniqueFd program(bpf_prog_load(BPF_PROG_TYPE_KPROBE, "touch_texts", "GPL", code.data(),
                                   code.size(), &options));
    if (!program) return std::nullopt;
    int fd = sys::link_uprobes(program.get(), sys::kUprobeMulti, path.c_str(), offsets, cookies);
    if (fd < 0) return std::nullopt;
    Attachment made;
    made.links_.emplace_back(fd);
    return made;
}

}  // namespace mlbcc::bpf
