// What an argument of a program's own probe points to, or where it is, may be memory that nobody
// has touched yet. A program that may sleep reads it first, and so brings it in.
#include <linux/ptrace.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "bpf/assemble.h"
#include "bpf/kernel.h"
#include "bpf/touching.h"

namespace mlbcc::bpf {
namespace {

// Where in struct pt_regs a register is, bytes.
std::optional<int16_t> offset_of(const std::string& name) {
#if defined(__x86_64__)
    constexpr std::array<const char*, 20> kOrder = {"r15", "r14", "r13", "r12", "rbp", "rbx", "r11",
                                                    "r10", "r9",  "r8",  "rax", "rcx", "rdx", "rsi",
                                                    "rdi", "",    "pc",  "",    "",    "rsp"};
    for (size_t i = 0; i < kOrder.size(); ++i) {
        if (name == kOrder[i]) return static_cast<int16_t>(8 * i);
    }
    return std::nullopt;
#else
    if (name == "sp") return int16_t{8 * 31};
    if (name == "pc") return int16_t{8 * 32};
    return static_cast<int16_t>(8 * std::atoi(name.c_str() + 1));
#endif
}

class Toucher {
public:
    // Nothing where there is nothing to touch.
    std::vector<bpf_insn> code(const plan::ProbePlan& probe) {
        append(code_, {copy(BPF_REG_6, BPF_REG_1)});
        const auto& arguments = std::get<target::Usdt>(probe.probe->at).probe.arguments;
        for (size_t i = 0; i < arguments.size(); ++i) {
            bool text = i < 32 && (probe.text_words & 1u << i) != 0;
            if (const auto* memory = std::get_if<target::UsdtMemory>(&arguments[i].place)) {
                touch(probe, *memory, text);
            }
            const auto* value = std::get_if<target::UsdtRegister>(&arguments[i].place);
            if (value != nullptr && text && load(value->name, BPF_REG_9)) read_text(probe);
        }
        if (!touches_) return {};
        append(code_, {compute(BPF_MOV, BPF_REG_0, 0), leave()});
        return std::move(code_);
    }

private:
    bool load(const std::string& name, uint8_t to) {
        auto offset = offset_of(name);
        if (!offset) return false;
        append(code_, {instruction(BPF_LDX | BPF_MEM | BPF_DW, to, BPF_REG_6, *offset, 0)});
        return true;
    }

    void read(int32_t size) {
        append_touch(code_, size);
        touches_ = true;
    }

    // From r9 on.
    void read_text(const plan::ProbePlan& probe) {
        append(code_, {copy(BPF_REG_3, BPF_REG_9)});
        read(1);
        append(code_, {copy(BPF_REG_3, BPF_REG_9),
                       compute(BPF_ADD, BPF_REG_3, static_cast<int32_t>(probe.text_bytes) - 1)});
        read(1);
    }

    // r3 = base + scale * index + displacement
    void touch(const plan::ProbePlan& probe, const target::UsdtMemory& memory, bool text) {
        auto low = static_cast<int32_t>(memory.displacement);
        if (low != memory.displacement) return;
        append(code_, {compute(BPF_MOV, BPF_REG_3, 0), compute(BPF_MOV, BPF_REG_4, 0)});
        if (!memory.base.empty() && !load(memory.base, BPF_REG_3)) return;
        if (!memory.index.empty() && !load(memory.index, BPF_REG_4)) return;
        append(code_, {compute(BPF_MUL, BPF_REG_4, memory.scale),
                       instruction(BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_3, BPF_REG_4, 0, 0),
                       compute(BPF_ADD, BPF_REG_3, low)});
        read(8);
        if (!text) return;
        append(code_, {instruction(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_9, BPF_REG_10, -8, 0)});
        read_text(probe);
    }

    std::vector<bpf_insn> code_;
    bool touches_ = false;
};

}  // namespace

std::optional<Attachment> Attachment::touch_arguments(const std::string& path,
                                                      std::span<const Site> sites,
                                                      codegen::AttachMode mode) {
    Attachment made;
    for (const Site& site : sites) {
        const std::vector<bpf_insn> code = Toucher().code(*site.probe);
        if (code.empty()) continue;
        const TouchingSite place{site.offset, 0, site.semaphore};
        std::ranges::move(attach_touching(path, "touch_arguments", code, {&place, 1}, mode),
                          std::back_inserter(made.links_));
    }
    if (made.links_.empty()) return std::nullopt;
    return made;
}

}  // namespace mlbcc::bpf
