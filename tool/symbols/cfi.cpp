#include "symbols/cfi.h"

#include <algorithm>
#include <cstdlib>

#include <dwarf.h>
#include <libelf.h>

namespace mlbcc::symbols {
namespace {

constexpr size_t kMaxRows = 32768;

struct FrameFree {
    void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

}  // namespace

std::unique_ptr<Cfi> Cfi::read(int fd) {
    elf_version(EV_CURRENT);
    std::unique_ptr<Cfi> cfi(new Cfi);
    cfi->elf_ = elf_begin(fd, ELF_C_READ, nullptr);
    if (!cfi->open()) return nullptr;
    elf_cntl(cfi->elf_, ELF_C_FDDONE);  // .eh_frame has been read; `fd` will be closed
    return cfi;
}

std::unique_ptr<Cfi> Cfi::read(std::span<const std::byte> image) {
    elf_version(EV_CURRENT);
    std::unique_ptr<Cfi> cfi(new Cfi);
    cfi->image_.assign(image.begin(), image.end());
    cfi->elf_ = elf_memory(reinterpret_cast<char*>(cfi->image_.data()), cfi->image_.size());
    return cfi->open() ? std::move(cfi) : nullptr;
}

bool Cfi::open() {
    if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF) return false;
    cfi_ = dwarf_getcfi_elf(elf_);
    return cfi_ != nullptr;
}

Cfi::~Cfi() {
    if (cfi_ != nullptr) dwarf_cfi_end(cfi_);
    if (elf_ != nullptr) elf_end(elf_);
}

const CfiRow& Cfi::row(uint64_t address, std::span<const uint8_t> regs) {
    if (auto found = rows_.find(address); found != rows_.end()) return found->second;
    if (rows_.size() >= kMaxRows) {
        rows_.clear();
        expressions_.clear();
    }
    return rows_.emplace(address, make_row(address, regs)).first->second;
}

CfiRow Cfi::make_row(uint64_t address, std::span<const uint8_t> regs) {
    CfiRow row;
    Dwarf_Frame* found = nullptr;
    if (dwarf_cfi_addrframe(cfi_, address, &found) != 0) return row;
    std::unique_ptr<Dwarf_Frame, FrameFree> frame(found);
    int return_reg = dwarf_frame_info(frame.get(), nullptr, nullptr, &row.signal);
    if (return_reg < 0 || return_reg > UINT8_MAX) return row;
    row.return_reg = static_cast<uint8_t>(return_reg);
    bool good = add_cfa(frame.get(), row);
    for (uint8_t reg : regs) good = good && add_rule(frame.get(), reg, row);
    bool followed = std::ranges::find(regs, row.return_reg) != regs.end();
    row.known = good && (followed || add_rule(frame.get(), row.return_reg, row));
    return row;
}

std::span<const Dwarf_Op> Cfi::keep(const Dwarf_Op* ops, size_t count) {
    auto copy = std::make_unique<Dwarf_Op[]>(count);
    std::copy_n(ops, count, copy.get());
    expressions_.push_back(std::move(copy));
    return {expressions_.back().get(), count};
}

bool Cfi::add_cfa(Dwarf_Frame* frame, CfiRow& row) {
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0) return false;
    if (count == 1 && ops[0].atom == DW_OP_bregx && ops[0].number <= UINT8_MAX) {
        row.cfa_reg = static_cast<uint8_t>(ops[0].number);
        row.cfa_offset = static_cast<int64_t>(ops[0].number2);
    } else {
        row.cfa_expression = keep(ops, count);
    }
    return true;
}

// libdw gives "in memory at CFA - 16" as DW_OP_call_frame_cfa, DW_OP_plus_uconst -16, and "CFA + 0"
// as DW_OP_call_frame_cfa, DW_OP_stack_value.
bool Cfi::add_rule(Dwarf_Frame* frame, uint8_t reg, CfiRow& row) {
    Dwarf_Op space[3];
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (dwarf_frame_register(frame, reg, space, &ops, &count) != 0) return false;
    if (count == 0 && ops == nullptr) return true;  // it keeps its value
    RegisterRule rule{.reg = reg};
    if (count > 0) {
        bool value = ops[count - 1].atom == DW_OP_stack_value;
        size_t place = value ? count - 1 : count;
        bool from_cfa = ops[0].atom == DW_OP_call_frame_cfa;
        bool offset = place == 2 && ops[1].atom == DW_OP_plus_uconst;
        if (from_cfa && (place == 1 || offset)) {
            rule.kind = value ? RegisterRule::Kind::cfa_plus : RegisterRule::Kind::at_cfa;
            rule.offset = offset ? static_cast<int64_t>(ops[1].number) : 0;
        } else {
            rule.kind = RegisterRule::Kind::expression;
            rule.expression = keep(ops, count);
        }
    }
    row.rules.push_back(rule);
    return true;
}

}  // namespace mlbcc::symbols
