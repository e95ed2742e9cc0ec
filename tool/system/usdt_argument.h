// An argument of a USDT probe, as the assembler wrote it, to the place where its value is when the
// probe is hit.
//
//   -4@%edx               ->  register rdx, 4 bytes, signed
//   8@-80(%rbx)           ->  memory at rbx - 80
//   -4@8(%rax,%rbx,4)     ->  memory at rax + 4 * rbx + 8
//   8@counter+8(%rip)     ->  memory at a fixed distance from the probe
//   8@[x0, 16]            ->  memory at x0 + 16
//   -4@$5, -4@5           ->  the constant 5 (x86, ARM)
//
// Sources: <sys/sdt.h> of SystemTap; the operands of AT&T syntax and of AArch64's assembler.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mlbcc::system {

struct UsdtConstant {
    int64_t value = 0;
};
// Registers have the name of the whole one: "rdx", not "edx"; "x0", not "w0"; "sp". The value is in
// its lower bytes.
struct UsdtRegister {
    std::string name;
};
// At base + scale * index + displacement.
struct UsdtMemory {
    // "pc": the address of the probe itself, as the instruction pointer is when it is hit.
    std::string base;
    std::string index;  // "": none
    uint8_t scale = 1;  // 1, 2, 4 or 8
    int64_t displacement = 0;
};
struct UsdtUnknown {
    std::string why;  // "`%xmm0` is a floating-point register"
};

struct UsdtArgument {
    std::string text;  // "-4@%edx"
    uint8_t size = 0;  // bytes: 1, 2, 4 or 8; 0 where it is unknown
    bool is_signed = false;
    std::variant<UsdtUnknown, UsdtConstant, UsdtRegister, UsdtMemory> place;
};

// How far behind the probe a symbol of the file is, bytes; nothing if it is not known.
using DistanceOf = std::function<std::optional<int64_t>(std::string_view symbol)>;

// `text` is that of a note, "8@%r14 -4@%ebp"; `machine` is ElfImage's: "x86_64" or "aarch64".
std::vector<UsdtArgument> parse_usdt_arguments(std::string_view text, std::string_view machine,
                                               const DistanceOf& distance);

}  // namespace mlbcc::system
