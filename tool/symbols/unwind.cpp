#include "symbols/unwind.h"

#include <cstring>

#include <dwarf.h>

#include "base/bytes.h"

namespace mlbcc::symbols {
namespace {

// The DWARF numbers of UserStack::saved, in its order.
constexpr uint8_t kSavedX86[] = {6, 3, 12, 13, 14, 15};
constexpr uint8_t kSavedArm[] = {29, 30, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28};
constexpr uint8_t kSpX86 = 7, kIpX86 = 16, kSpArm = 31;
constexpr uint64_t kMostStack = uint64_t{1} << 30;
// The kernel puts its trampoline as high as a process may have anything.
constexpr uint64_t kTrampolinesX86 = 0x7fffffff0000, kTrampolinesArm = 0xffffffff0000;

std::span<const uint8_t> saved_regs(plan::Arch arch) {
    switch (arch) {
    case plan::Arch::x86_64: return kSavedX86;
    case plan::Arch::arm64: return kSavedArm;
    }
    return {};
}

std::optional<uint64_t> cfa_of(const CfiRow& row, const Registers& regs,
                               const StackMemory& memory) {
    if (!row.cfa_expression.empty()) {
        return evaluate(row.cfa_expression, regs, std::nullopt, memory);
    }
    auto base = regs.get(row.cfa_reg);
    return base ? std::optional(*base + static_cast<uint64_t>(row.cfa_offset)) : std::nullopt;
}

// What a register held in the caller; nullopt where that lies outside `memory`.
std::optional<uint64_t> value_of(const RegisterRule& rule, uint64_t cfa, const Registers& regs,
                                 const StackMemory& memory) {
    uint64_t place = cfa + static_cast<uint64_t>(rule.offset);
    switch (rule.kind) {
    case RegisterRule::Kind::undefined: return std::nullopt;
    case RegisterRule::Kind::at_cfa: return memory.word(place);
    case RegisterRule::Kind::cfa_plus: return place;
    case RegisterRule::Kind::expression: return evaluate(rule.expression, regs, cfa, memory);
    }
    return std::nullopt;
}

}  // namespace

std::optional<uint64_t> StackMemory::word(uint64_t address) const {
    uint64_t at = address - start;
    std::span<const std::byte> piece = bytes;
    if (address >= start && at >= bytes.size()) {
        at -= bytes.size();
        piece = more;
    }
    if (address < start || at > piece.size() || piece.size() - at < 8) {
        ended |= address >= start && at < kMostStack;
        return std::nullopt;
    }
    uint64_t value;
    std::memcpy(&value, piece.data() + at, sizeof value);
    return value;
}

Unwinder::Unwinder(plan::Arch arch)
    : arch_(arch), sp_(arch == plan::Arch::x86_64 ? kSpX86 : kSpArm),
      frame_pointer_(saved_regs(arch)[0]) {
    std::span<const uint8_t> saved = saved_regs(arch);
    followed_.assign(saved.begin(), saved.end());
    followed_.push_back(sp_);
}

Registers Unwinder::first_registers(const plan::UserStack& from) const {
    Registers regs;
    std::span<const uint8_t> saved = saved_regs(arch_);
    for (size_t i = 0; i < saved.size(); ++i) regs.set(saved[i], from.saved[i]);
    regs.set(sp_, from.sp);
    if (arch_ == plan::Arch::x86_64) regs.set(kIpX86, from.ip);
    return regs;
}

// arm64 may sign return addresses in the bits above the address space.
uint64_t Unwinder::plain_address(uint64_t address) const {
    return arch_ == plan::Arch::arm64 ? address & ((uint64_t{1} << 48) - 1) : address;
}

// On arm64 a function that has called none may have nothing on the stack: x30 says where it
// returns to.
bool Unwinder::may_be_leaf(const Frame& frame) const {
    return arch_ == plan::Arch::arm64 && frame.innermost;
}

bool Unwinder::is_trampoline(uint64_t address) const {
    return address >= (arch_ == plan::Arch::x86_64 ? kTrampolinesX86 : kTrampolinesArm);
}

// In the place of the trampoline's, the address that a frame goes on at. The call that returns
// there is the innermost whose caller's stack pointer is the frame's; within the trampoline itself,
// which saves what it uses, it is a little higher.
void Unwinder::find_return(Frame& frame, const UserStackCopy& copy) const {
    if (!is_trampoline(frame.pc)) return;
    const uint64_t pushed = arch_ == plan::Arch::x86_64 ? 8 : 0;  // the return address
    const uint64_t sp = *frame.regs.get(sp_);
    const size_t each = sizeof(plan::AwaitedReturn);
    for (size_t at = 0; at + each <= copy.returns.size(); at += each) {
        const auto awaited = read_at<plan::AwaitedReturn>(copy.returns, at);
        const uint64_t callers = awaited.sp + pushed;
        if (callers < sp) continue;
        if (callers != sp && !frame.innermost) return;
        frame.pc = plain_address(awaited.address);
        frame.regs.set(sp_, callers);
        return;
    }
}

void Unwinder::walk(const UserStackCopy& copy, CodeFinder& finder,
                    std::vector<uint64_t>& out) const {
    out.clear();
    Frame frame{first_registers(copy.from), plain_address(copy.from.ip)};
    find_return(frame, copy);
    frame.code = finder.code_at(frame.pc - 1);
    const StackMemory memory{copy.from.sp, copy.memory, copy.more};
    Step done = Step::caller;
    while (done == Step::caller && out.size() < kMaxStackFrames) {
        out.push_back(frame.pc);
        done = step(frame, copy, memory, finder);
    }
    if (done == Step::outermost) return;
    Cut why = memory.ended ? Cut::copy : Cut::lost;
    if (frame.guessed) why = Cut::file;
    if (done == Step::caller) why = Cut::deep;
    out.push_back(uint64_t(why));
}

Unwinder::Step Unwinder::step(Frame& frame, const UserStackCopy& copy, const StackMemory& memory,
                              CodeFinder& finder) const {
    if (!frame.code.executable) return Step::stuck;
    frame.guessed |= frame.code.unread;
    uint64_t sp = *frame.regs.get(sp_);
    bool may_be_empty = may_be_leaf(frame);
    const CfiRow* row =
        frame.code.cfi != nullptr ? &frame.code.cfi->row(frame.code.address, followed_) : nullptr;
    bool known = row != nullptr && row->known;
    Step result = known ? step_by_cfi(frame, *row, memory) : step_by_frame_pointer(frame, memory);
    if (result != Step::caller) return result;
    // Only a signal's own stack may lie elsewhere, and of that there is no copy.
    uint64_t next = *frame.regs.get(sp_);
    if (next < sp || (next == sp && !may_be_empty)) return Step::stuck;
    frame.innermost = false;
    find_return(frame, copy);
    frame.code = finder.code_at(frame.interrupted ? frame.pc : frame.pc - 1);
    return frame.code.executable ? Step::caller : Step::stuck;
}

Unwinder::Step Unwinder::step_by_cfi(Frame& frame, const CfiRow& row,
                                     const StackMemory& memory) const {
    const Registers before = frame.regs;
    std::optional<uint64_t> cfa = cfa_of(row, before, memory);
    if (!cfa) return Step::stuck;
    frame.regs.set(sp_, *cfa);
    if (!may_be_leaf(frame) && row.return_reg < Registers::kCount) {
        frame.regs.forget(row.return_reg);  // it is on the stack, or nowhere
    }
    for (const RegisterRule& rule : row.rules) {
        if (rule.kind == RegisterRule::Kind::undefined) {
            if (rule.reg == row.return_reg) return Step::outermost;
            // Calls preserve all others. Where a function says nothing about rbx, libdw takes it
            // for one that they do not preserve (0.188, backends/x86_64_cfi.c).
            continue;
        }
        if (rule.reg >= Registers::kCount) return Step::stuck;
        std::optional<uint64_t> value = value_of(rule, *cfa, before, memory);
        value ? frame.regs.set(rule.reg, *value) : frame.regs.forget(rule.reg);
    }
    std::optional<uint64_t> pc = frame.regs.get(row.return_reg);
    if (!pc || !frame.regs.get(sp_)) return Step::stuck;
    frame.pc = plain_address(*pc);
    frame.interrupted = row.signal;
    return frame.pc == 0 ? Step::outermost : Step::caller;
}

// [fp] is the caller's frame pointer, [fp + 8] the return address, on both architectures.
Unwinder::Step Unwinder::step_by_frame_pointer(Frame& frame, const StackMemory& memory) const {
    std::optional<uint64_t> fp = frame.regs.get(frame_pointer_);
    if (!fp) return Step::stuck;
    std::optional<uint64_t> outer = memory.word(*fp), pc = memory.word(*fp + 8);
    if (!outer || !pc) return Step::stuck;
    frame.pc = plain_address(*pc);
    if (frame.pc == 0) return Step::outermost;
    Registers regs;  // nothing is known of the others
    regs.set(frame_pointer_, *outer);
    regs.set(sp_, *fp + 16);
    frame.regs = regs;
    frame.interrupted = false;
    return Step::caller;
}

}  // namespace mlbcc::symbols
