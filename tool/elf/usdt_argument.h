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
#include <string_view>
#include <vector>

#include "target/target.h"

namespace mlbcc::elf {

using target::UsdtArgument;
using target::UsdtConstant;
using target::UsdtMemory;
using target::UsdtRegister;
using target::UsdtUnknown;

// How far behind the probe a symbol of the file is, bytes; nothing if it is not known.
using DistanceOf = std::function<std::optional<int64_t>(std::string_view symbol)>;

// `text` is that of a note, "8@%r14 -4@%ebp"; `machine` is ElfImage's: "x86_64" or "aarch64".
std::vector<UsdtArgument> parse_usdt_arguments(std::string_view text, std::string_view machine,
                                               const DistanceOf& distance);

}  // namespace mlbcc::elf
