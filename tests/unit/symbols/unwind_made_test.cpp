// The unwinder on call frame information that is written here byte by byte: both architectures,
// expressions, ends of stacks, and rules that make no sense.
#include <cstring>
#include <initializer_list>
#include <string>

#include <dwarf.h>
#include <elf.h>
#include <gtest/gtest.h>

#include "symbols/cfi.h"
#include "symbols/unwind_capture.h"

namespace mlbcc::symbols {
namespace {

using Bytes = std::vector<uint8_t>;
using Addresses = std::vector<uint64_t>;

template <class T> void append(Bytes& bytes, T value) {
    uint8_t raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
}

void append(Bytes& bytes, const Bytes& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
}

// An .eh_frame section (Linux Standard Base 5.0, 10.6) with a CIE for each function.
class EhFrame {
public:
    // Registers are at CFA + 8 * factor, factors as `rules` gives them (data alignment -8).
    EhFrame& function(uint64_t start, uint64_t size, uint8_t return_reg, const Bytes& rules,
                      bool signal = false) {
        size_t cie = bytes_.size();
        Bytes body{0, 0, 0, 0, 1, 'z', 'R'};
        if (signal) body.push_back('S');
        append(body, {0, 1, 0x78, return_reg, 1, DW_EH_PE_absptr});
        append(body, rules);
        add_entry(body);
        Bytes fde;
        append(fde, static_cast<uint32_t>(bytes_.size() + 4 - cie));
        append(fde, start);
        append(fde, size);
        fde.push_back(0);
        add_entry(fde);
        return *this;
    }

    // A file that has nothing else.
    std::unique_ptr<Cfi> cfi(uint16_t machine) const {
        const std::string names("\0.eh_frame\0.shstrtab\0", 21);
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_DYN;
        header.e_machine = machine;
        header.e_version = EV_CURRENT;
        header.e_ehsize = sizeof header;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = 3;
        header.e_shstrndx = 2;
        header.e_shoff = sizeof header;
        Elf64_Shdr sections[3] = {};
        size_t frame_at = sizeof header + sizeof sections, frame_size = bytes_.size() + 4;
        sections[1] = {1, SHT_PROGBITS, SHF_ALLOC, 0x100000, frame_at, frame_size, 0, 0, 8, 0};
        sections[2] = {11, SHT_STRTAB, 0, 0, frame_at + frame_size, names.size(), 0, 0, 1, 0};
        Bytes file;
        append(file, header);
        for (const Elf64_Shdr& section : sections) append(file, section);
        append(file, bytes_);
        append(file, uint32_t{0});
        append(file, Bytes(names.begin(), names.end()));
        return Cfi::read(std::as_bytes(std::span(file)));
    }

private:
    void add_entry(Bytes body) {
        while (body.size() % 8 != 4) body.push_back(DW_CFA_nop);
        append(bytes_, static_cast<uint32_t>(body.size()));
        append(bytes_, body);
    }
    Bytes bytes_;
};

// Code at [0x1000, 0x9000), all of one file.
class OneFile : public CodeFinder {
public:
    explicit OneFile(Cfi* cfi) : cfi_(cfi) {}
    Code code_at(uint64_t address) override {
        return {address >= 0x1000 && address < 0x9000, cfi_, address};
    }

private:
    Cfi* cfi_;
};

// `words` of stack from 0x7000 upward.
Capture stack_of(uint64_t ip, std::initializer_list<uint64_t> words) {
    Capture capture;
    capture.from.ip = ip;
    capture.from.sp = 0x7000;
    capture.stack.resize(words.size() * 8);
    std::memcpy(capture.stack.data(), words.begin(), capture.stack.size());
    return capture;
}

Addresses walk(const Capture& capture, const EhFrame& frames, plan::Arch arch) {
    auto cfi = frames.cfi(arch == plan::Arch::arm64 ? EM_AARCH64 : EM_X86_64);
    if (cfi == nullptr) return {};
    OneFile finder(cfi.get());
    return unwound(capture, finder, arch);
}

constexpr uint8_t kRip = 16, kRsp = 7, kRbp = 6, kLr = 30, kArmSp = 31, kFp = 29;

// CFA = rsp + 8 n, the return address below it.
Bytes plain(uint8_t words) {
    return {DW_CFA_def_cfa, kRsp, static_cast<uint8_t>(8 * words), DW_CFA_offset | kRip, 1};
}

EhFrame with_start() {  // _start, whose caller is undefined
    EhFrame frames;
    frames.function(0x1000, 0x100, kRip, {DW_CFA_def_cfa, kRsp, 8, DW_CFA_undefined, kRip});
    return frames;
}

Bytes cfa_expression(const Bytes& expression) {
    Bytes rules{DW_CFA_def_cfa_expression, static_cast<uint8_t>(expression.size())};
    append(rules, expression);
    append(rules, {DW_CFA_offset | kRip, 1});
    return rules;
}

TEST(UnwindMade, AFunctionWithoutACallerEndsTheStack) {
    EhFrame frames = with_start();
    frames.function(0x2000, 0x100, kRip, plain(2));
    EXPECT_EQ(walk(stack_of(0x2010, {1, 0x1010}), frames, plan::Arch::x86_64),
              (Addresses{0x2010, 0x1010}));
}

TEST(UnwindMade, WithoutARowTheFramePointerIsFollowed) {
    EhFrame frames = with_start();
    Capture capture = stack_of(0x3010, {1, 2, 3, 0x1010});
    capture.from.saved[0] = 0x7010;
    EXPECT_EQ(walk(capture, frames, plan::Arch::x86_64), (Addresses{0x3010, 0x1010}));
}

// What linkers write for .plt: after the first 11 bytes of an entry one word more is on the stack.
TEST(UnwindMade, EvaluatesTheExpressionOfAProcedureLinkageTable) {
    EhFrame frames = with_start();
    frames.function(
        0x2000, 0x100, kRip,
        cfa_expression({DW_OP_breg0 + kRsp, 8, DW_OP_breg0 + kRip, 0, DW_OP_lit15, DW_OP_and,
                        DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus}));
    EXPECT_EQ(walk(stack_of(0x2026, {0x1010, 2}), frames, plan::Arch::x86_64),
              (Addresses{0x2026, 0x1010}));
    EXPECT_EQ(walk(stack_of(0x202c, {1, 0x1010}), frames, plan::Arch::x86_64),
              (Addresses{0x202c, 0x1010}));
}

// What gcc writes for a realigned stack: the CFA lies in memory, below the frame pointer.
TEST(UnwindMade, ReadsTheStackInAnExpression) {
    EhFrame frames = with_start();
    frames.function(0x2000, 0x100, kRip, cfa_expression({DW_OP_breg0 + kRbp, 0x78, DW_OP_deref}));
    Capture capture = stack_of(0x2010, {0x7018, 2, 0x1010});
    capture.from.saved[0] = 0x7008;
    EXPECT_EQ(walk(capture, frames, plan::Arch::x86_64), (Addresses{0x2010, 0x1010}));
    capture.from.saved[0] = 0x9008;  // outside the copy
    EXPECT_EQ(walk(capture, frames, plan::Arch::x86_64), (Addresses{0x2010, kBeyondCopy}));
}

TEST(UnwindMade, FindsSavedRegistersByOffsetValueAndExpression) {
    EhFrame frames = with_start();
    Bytes saves = plain(4);  // rbp at CFA - 16, then the CFA of the caller is rbp
    append(saves, {DW_CFA_offset | kRbp, 2});
    frames.function(0x2000, 0x100, kRip, saves);
    Bytes by_value{DW_CFA_def_cfa, kRbp, 0, DW_CFA_offset | kRip, 1};
    append(by_value, {DW_CFA_val_offset, kRbp, 0});
    frames.function(0x3000, 0x100, kRip, by_value);
    Bytes by_expression{DW_CFA_def_cfa, kRbp, 16, DW_CFA_offset | kRip, 1};
    append(by_expression, {DW_CFA_expression, kRbp, 2, DW_OP_breg0 + kRbp, 0});
    frames.function(0x4000, 0x100, kRip, by_expression);
    //                                 0x7000   0x7010         0x7020     28      0x7030  38
    Capture capture = stack_of(0x2010, {1, 2, 0x7030, 0x3010, 0, 0x4010, 0x7040, 0x1010});
    EXPECT_EQ(walk(capture, frames, plan::Arch::x86_64),
              (Addresses{0x2010, 0x3010, 0x4010, 0x1010}));
}

TEST(UnwindMade, RulesThatMakeNoSenseEndTheWalk) {
    const std::pair<const char*, Bytes> rules[] = {
        {"the stack does not shrink", {DW_CFA_def_cfa, kRsp, 0, DW_CFA_offset | kRip, 0}},
        {"the return address stays in its register", {DW_CFA_def_cfa, kRsp, 8}},
        {"a CFA from a register that nobody knows",
         {DW_CFA_def_cfa, 3, 8, DW_CFA_offset | kRip, 1, DW_CFA_def_cfa_register, 40}},
        {"a register number out of all bounds",
         {DW_CFA_def_cfa, kRsp, 8, DW_CFA_offset_extended, 0xff, 0xff, 0xff, 0xff, 0x7f, 1}},
        {"an unknown instruction", {DW_CFA_def_cfa, kRsp, 8, 0x3f}},
        {"an expression of nothing", cfa_expression({DW_OP_nop})},
        {"an operation on an empty stack", cfa_expression({DW_OP_plus})},
        {"an operation that frames do not have", cfa_expression({DW_OP_push_object_address})},
        {"a shift out of all bounds, as an address",
         cfa_expression({DW_OP_breg0 + kRsp, 8, DW_OP_const1u, 200, DW_OP_shl})},
        {"memory at address 0", cfa_expression({DW_OP_lit0, DW_OP_deref})},
        {"too many values", cfa_expression(Bytes(100, DW_OP_lit0))},
        {"an expression that is cut off", {DW_CFA_def_cfa_expression, 100, DW_OP_breg0 + kRsp}},
    };
    for (const auto& [what, bytes] : rules) {
        EhFrame frames = with_start();
        frames.function(0x2000, 0x100, kRip, bytes);
        EXPECT_EQ(walk(stack_of(0x2010, {0x2010, 0x2010, 0x2010}), frames, plan::Arch::x86_64),
                  (Addresses{0x2010, kLost}))
            << what;
    }
}

// ---- a copy of two pieces

TEST(UnwindMade, GoesOnInTheSecondPiece) {
    EhFrame frames = with_start();
    frames.function(0x2000, 0x100, kRip, plain(2)).function(0x3000, 0x100, kRip, plain(1));
    const Capture whole = stack_of(0x2010, {1, 0x3010, 0x1010});
    for (size_t first = 0; first <= whole.stack.size(); first += 8) {
        Capture cut = whole;
        const auto at = cut.stack.begin() + static_cast<ptrdiff_t>(first);
        cut.more.assign(at, cut.stack.end());
        cut.stack.erase(at, cut.stack.end());
        EXPECT_EQ(walk(cut, frames, plan::Arch::x86_64), (Addresses{0x2010, 0x3010, 0x1010}))
            << first;
        if (cut.more.empty()) continue;
        cut.more.resize(cut.more.size() - 8);
        EXPECT_EQ(walk(cut, frames, plan::Arch::x86_64).back(), kBeyondCopy) << first;
    }
}

// ---- returns that the kernel's trampoline stands for

constexpr uint64_t kTrampoline = 0x7fffffffe000, kTrampolineArm = 0xfffffffff000;

Capture awaiting(Capture capture, std::initializer_list<plan::AwaitedReturn> returns) {
    capture.returns.resize(returns.size() * sizeof(plan::AwaitedReturn));
    std::memcpy(capture.returns.data(), std::data(returns), capture.returns.size());
    return capture;
}

TEST(UnwindMade, GoesOnWhereTheTrampolineReturnsTo) {
    EhFrame frames = with_start();
    frames.function(0x2000, 0x100, kRip, plain(2)).function(0x3000, 0x100, kRip, plain(1));
    const Capture capture = stack_of(0x2010, {1, kTrampoline, kTrampoline, 0x1010});
    EXPECT_EQ(
        walk(awaiting(capture, {{0x7008, 0x3010}, {0x7010, 0x3020}}), frames, plan::Arch::x86_64),
        (Addresses{0x2010, 0x3010, 0x3020, 0x1010}));
    EXPECT_EQ(walk(awaiting(capture, {{0x7008, 0x3010}}), frames, plan::Arch::x86_64),
              (Addresses{0x2010, 0x3010, kLost}));
    EXPECT_EQ(walk(capture, frames, plan::Arch::x86_64), (Addresses{0x2010, kLost}));
}

// After longjmp() the kernel still awaits what was left; of two at one place the newer one is
// alive.
TEST(UnwindMade, CallsThatWereLeftAreNotGoneOnFrom) {
    EhFrame frames = with_start();
    frames.function(0x2000, 0x100, kRip, plain(2)).function(0x3000, 0x100, kRip, plain(1));
    EXPECT_EQ(walk(awaiting(stack_of(0x2010, {1, 0x3010, 0x1010}), {{0x7008, 0x2020}}), frames,
                   plan::Arch::x86_64),
              (Addresses{0x2010, 0x3010, 0x1010}));
    EXPECT_EQ(walk(awaiting(stack_of(0x2010, {1, kTrampoline, 0x1010}),
                            {{0x6ff0, 0x4010}, {0x7008, 0x3010}, {0x7008, 0x2020}}),
                   frames, plan::Arch::x86_64),
              (Addresses{0x2010, 0x3010, 0x1010}));
}

// A function that is jumped to, and what interrupts the trampoline, which has pushed three words.
TEST(UnwindMade, ARecordMayComeFromTheTrampoline) {
    EhFrame frames = with_start();
    frames.function(0x2000, 0x100, kRip, plain(1));
    EXPECT_EQ(walk(awaiting(stack_of(kTrampoline, {0x1010}), {{0x6ff8, 0x2010}}), frames,
                   plan::Arch::x86_64),
              (Addresses{0x2010, 0x1010}));
    EXPECT_EQ(walk(awaiting(stack_of(kTrampoline + 5, {1, 2, 3, 0x1010}), {{0x7010, 0x2010}}),
                   frames, plan::Arch::x86_64),
              (Addresses{0x2010, 0x1010}));
}

// ---- arm64

Bytes arm_frame(uint8_t words) {  // x29 and x30 at the bottom
    return {DW_CFA_def_cfa,
            kArmSp,
            static_cast<uint8_t>(8 * words),
            DW_CFA_offset | kFp,
            words,
            DW_CFA_offset | kLr,
            static_cast<uint8_t>(words - 1)};
}

EhFrame with_arm_start() {
    EhFrame frames;
    frames.function(0x1000, 0x100, kLr, {DW_CFA_def_cfa, kArmSp, 0, DW_CFA_undefined, kLr});
    return frames;
}

TEST(UnwindMade, Arm64KeepsTheReturnAddressInARegister) {
    EhFrame frames = with_arm_start();
    frames.function(0x2000, 0x100, kLr, arm_frame(2)).function(0x3000, 0x100, kLr, arm_frame(4));
    Capture capture = stack_of(0x2010, {0x7010, 0x3010, 0, 0x1010, 5, 6});
    EXPECT_EQ(walk(capture, frames, plan::Arch::arm64), (Addresses{0x2010, 0x3010, 0x1010}));
}

TEST(UnwindMade, Arm64StripsTheSignatureOfAReturnAddress) {
    EhFrame frames = with_arm_start();
    Bytes signed_frame{DW_CFA_AARCH64_negate_ra_state};
    append(signed_frame, arm_frame(2));
    frames.function(0x2000, 0x100, kLr, signed_frame);
    Capture capture = stack_of(0x2010, {0x7010, 0x3a51'0000'0000'1010});
    EXPECT_EQ(walk(capture, frames, plan::Arch::arm64), (Addresses{0x2010, 0x1010}));
}

TEST(UnwindMade, Arm64OnlyTheInnermostFunctionMayHaveNoFrame) {
    EhFrame frames = with_arm_start();
    const Bytes leaf{DW_CFA_def_cfa, kArmSp, 0};
    frames.function(0x2000, 0x100, kLr, leaf).function(0x3000, 0x100, kLr, arm_frame(2));
    Capture capture = stack_of(0x2010, {0, 0x1010});
    capture.from.saved[1] = 0x3010;
    EXPECT_EQ(walk(capture, frames, plan::Arch::arm64), (Addresses{0x2010, 0x3010, 0x1010}));
    capture = stack_of(0x3010, {0, 0x2010, 0, 0x1010});
    EXPECT_EQ(walk(capture, frames, plan::Arch::arm64), (Addresses{0x3010, 0x2010, kLost}));
}

// The return address is in a register; what the function does with it, nobody knows beforehand.
TEST(UnwindMade, Arm64GoesOnWhereTheTrampolineReturnsTo) {
    EhFrame frames = with_arm_start();
    const Bytes leaf{DW_CFA_def_cfa, kArmSp, 0};
    frames.function(0x2000, 0x100, kLr, leaf).function(0x3000, 0x100, kLr, arm_frame(2));
    Capture capture = stack_of(0x2010, {0, kTrampolineArm, 0, 0x1010});
    capture.from.saved[1] = kTrampolineArm;
    EXPECT_EQ(
        walk(awaiting(capture, {{0x7000, 0x3010}, {0x7010, 0x3020}}), frames, plan::Arch::arm64),
        (Addresses{0x2010, 0x3010, 0x3020, 0x1010}));
}

}  // namespace
}  // namespace mlbcc::symbols
