#include "compiler/emulation.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace mlbcc::compiler {

namespace {

// ---- x86-64. Prefixes make the kernel refuse or single-step, so none is accepted.

bool is_push(Bytes code) {  // push %rax ... %rdi; with 41: push %r8 ... %r15
    bool short_form = code.size() == 1 && code[0] >= 0x50 && code[0] <= 0x57;
    bool long_form = code.size() == 2 && code[0] == 0x41 && code[1] >= 0x50 && code[1] <= 0x57;
    return short_form || long_form;
}

bool is_relative_jump(Bytes code) {
    if (code.size() == 2) return code[0] == 0xeb || (code[0] >= 0x70 && code[0] <= 0x7f);
    if (code.size() == 5) return code[0] == 0xe9 || code[0] == 0xe8;  // jmp, call
    return code.size() == 6 && code[0] == 0x0f && code[1] >= 0x80 && code[1] <= 0x8f;
}

bool is_short_nop(Bytes code) {
    return (code.size() == 1 && code[0] == 0x90) ||
           (code.size() == 2 && code[0] == 0x66 && code[1] == 0x90);
}

// The forms that the processors' manuals recommend, 3 to 8 bytes (x86_nops, asm/nops.h).
bool is_long_nop(Bytes code) {
    static constexpr std::array<std::string_view, 6> kNops = {
        std::string_view("\x0f\x1f\x00", 3),
        std::string_view("\x0f\x1f\x40\x00", 4),
        std::string_view("\x0f\x1f\x44\x00\x00", 5),
        std::string_view("\x66\x0f\x1f\x44\x00\x00", 6),
        std::string_view("\x0f\x1f\x80\x00\x00\x00\x00", 7),
        std::string_view("\x0f\x1f\x84\x00\x00\x00\x00\x00", 8),
    };
    std::string_view bytes(reinterpret_cast<const char*>(code.data()), code.size());
    return std::find(kNops.begin(), kNops.end(), bytes) != kNops.end();
}

bool emulated_x86(Bytes code, KernelAbilities kernel) {
    return is_push(code) || is_relative_jump(code) || is_short_nop(code) ||
           (kernel.long_nops && is_long_nop(code));
}

// A lock or a segment prefix other than fs and gs (is_prefix_bad), or a breakpoint.
bool refused_x86(Bytes code) {
    static constexpr std::string_view kOther = "\x64\x65\x66\x67\xf2\xf3";
    static constexpr std::string_view kBad = "\xf0\x26\x2e\x36\x3e";
    for (uint8_t byte : code) {
        if (kBad.find(static_cast<char>(byte)) != kBad.npos) return true;
        if (kOther.find(static_cast<char>(byte)) == kOther.npos) return byte == 0xcc;
    }
    return false;
}

// ---- arm64. Loads from a literal are left out: kernels since 6.12 refuse a uprobe on them.

struct Pattern {
    uint32_t mask, value;
};

constexpr Pattern kEmulatedArm[] = {
    {0x7c000000, 0x14000000},  // b, bl
    {0xff000010, 0x54000000},  // b.cond
    {0x7e000000, 0x34000000},  // cbz, cbnz
    {0x7e000000, 0x36000000},  // tbz, tbnz
    {0x1f000000, 0x10000000},  // adr, adrp
    {0xfffffc1f, 0xd61f0000},  // br
    {0xfffffc1f, 0xd63f0000},  // blr
    {0xfffffc1f, 0xd65f0000},  // ret
    {0xffffffff, 0xd503201f},  // nop (emulated from Linux 6.13)
};

constexpr Pattern kRefusedArm[] = {
    {0x3b000000, 0x18000000},  // ldr, ldrsw, prfm of a literal
    {0x3f000000, 0x08000000},  // ldxr, stxr, ldar, stlr, cas
    {0xffe0001f, 0xd4200000},  // brk
    {0xffe0001f, 0xd4400000},  // hlt
};

bool matches(std::span<const Pattern> patterns, Bytes code) {
    uint32_t word = 0;
    if (code.size() != sizeof word) return false;
    std::memcpy(&word, code.data(), sizeof word);
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const Pattern& p) { return (word & p.mask) == p.value; });
}

}  // namespace

// It cannot be tried without a probe and a stopwatch.
KernelAbilities running_kernel() {
    utsname name{};
    int major = 0, minor = 0;
    bool known = ::uname(&name) == 0 && std::sscanf(name.release, "%d.%d", &major, &minor) == 2;
    return KernelAbilities{known && (major > 6 || (major == 6 && minor >= 18))};
}

bool kernel_emulates(Architecture architecture, Bytes instruction, KernelAbilities kernel) {
    switch (architecture) {
    case Architecture::x86_64: return emulated_x86(instruction, kernel);
    case Architecture::aarch64: return matches(kEmulatedArm, instruction);
    }
    return false;
}

bool kernel_refuses(Architecture architecture, Bytes instruction) {
    switch (architecture) {
    case Architecture::x86_64: return refused_x86(instruction);
    case Architecture::aarch64: return matches(kRefusedArm, instruction);
    }
    return false;
}

}  // namespace mlbcc::compiler
