// The probes that a program brings along, as its file describes them (elf/usdt.h reads them):
// where each is, and where its arguments are when it is hit.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace mlbcc::target {

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

struct UsdtProbe {
    std::string provider, name;  // "python", "function__entry"
    uint64_t address = 0;        // virtual, as the file is laid out now
    uint64_t offset = 0;         // in the file, bytes: where the uprobe goes
    // In the file, bytes: the 2-byte counter that must not be 0 for the probe to be prepared by the
    // program, perf's ref_ctr_offset. 0: it has none.
    uint64_t semaphore = 0;
    std::vector<UsdtArgument> arguments;
};

struct UsdtProbes {
    std::string machine;  // "x86_64", "aarch64", "i386", ...
    // In the order of the file. A name comes again for each place where the compiler put it, with
    // arguments of its own.
    std::vector<UsdtProbe> probes;
    uint32_t broken = 0;  // notes that were left out: cut off, or of no place in the file's code
};

}  // namespace mlbcc::target
