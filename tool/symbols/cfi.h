// How to get from a frame to its caller's: an address in a file -> the row of its call frame
// information (.eh_frame, DWARF 5 section 6.4), which says where the caller's registers are.
//
//   CFA = rsp + 48;  rbx at CFA - 16;  return address at CFA - 8
//
// Rows are worked out by libdw once an address and kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <elfutils/libdw.h>

namespace mlbcc::symbols {

// A register's value in the caller.
struct RegisterRule {
    enum class Kind : uint8_t {
        undefined,   // lost
        at_cfa,      // in memory at CFA + offset
        cfa_plus,    // CFA + offset itself
        expression,  // `expression` gives it
    };
    Kind kind{};
    uint8_t reg = 0;  // DWARF's number
    int64_t offset = 0;
    std::span<const Dwarf_Op> expression;  // lives as long as the Cfi
};

struct CfiRow {
    bool known = false;   // false: the file says nothing about this address
    bool signal = false;  // the caller was interrupted: its address is no return address
    uint8_t return_reg = 0;
    uint8_t cfa_reg = 0;
    int64_t cfa_offset = 0;
    std::span<const Dwarf_Op> cfa_expression;  // if not empty, instead of reg + offset
    std::vector<RegisterRule> rules;           // registers without one keep their value
};

class Cfi {
public:
    // Null where the file has none. Reads what it needs before it returns.
    static std::unique_ptr<Cfi> read(int fd);
    static std::unique_ptr<Cfi> read(std::span<const std::byte> image);
    ~Cfi();
    Cfi(const Cfi&) = delete;
    Cfi& operator=(const Cfi&) = delete;

    // `regs`: DWARF numbers of the registers that are followed. `address` in the file's own terms.
    const CfiRow& row(uint64_t address, std::span<const uint8_t> regs);

private:
    Cfi() = default;
    bool open();
    CfiRow make_row(uint64_t address, std::span<const uint8_t> regs);
    bool add_cfa(Dwarf_Frame* frame, CfiRow& row);
    bool add_rule(Dwarf_Frame* frame, uint8_t reg, CfiRow& row);
    std::span<const Dwarf_Op> keep(const Dwarf_Op* ops, size_t count);

    std::vector<std::byte> image_;
    ::Elf* elf_ = nullptr;
    Dwarf_CFI* cfi_ = nullptr;
    std::unordered_map<uint64_t, CfiRow> rows_;
    std::vector<std::unique_ptr<Dwarf_Op[]>> expressions_;
};

}  // namespace mlbcc::symbols
