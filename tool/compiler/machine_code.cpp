#include "compiler/machine_code.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace mlbcc::compiler {

namespace {

// What a probe at a function's entry reads, what a return probe changes, and what a caller may have
// set for the callee: integer arguments, the count of vector arguments (al), the static chain
// (r10), the place of a returned structure (x8), the return address (lr, signed by paciasp), the
// stack.
constexpr const char* kCallRegistersX86[] = {"RDI", "RSI", "RDX", "RCX", "R8",
                                             "R9",  "RAX", "R10", "RSP"};
constexpr const char* kCallRegistersArm[] = {"X0", "X1", "X2", "X3", "X4", "X5",
                                             "X6", "X7", "X8", "LR", "SP"};

const char* triple_of(Architecture architecture) {
    switch (architecture) {
    case Architecture::x86_64: return "x86_64-linux-gnu";
    case Architecture::aarch64: return "aarch64-linux-gnu";
    }
    return "";
}

// The extensions of arm64 are named, so that newer code is not taken for data; x86-64 has them all.
const char* features_of(Architecture architecture) {
    switch (architecture) {
    case Architecture::x86_64: return "";
    case Architecture::aarch64: return "+v8.7a,+mte,+sve2,+crypto";
    }
    return "";
}

void initialize(Architecture architecture) {
    switch (architecture) {
    case Architecture::x86_64:
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86Disassembler();
        return;
    case Architecture::aarch64:
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64Disassembler();
        return;
    }
}

bool is_only_prefixes(Bytes bytes) {
    static constexpr std::string_view kPrefixes = "\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65\x66\x67";
    return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) {
        return kPrefixes.find(static_cast<char>(byte)) != kPrefixes.npos || (byte & 0xf0) == 0x40;
    });
}

// "\trep\t\tstosb\t%al, ..." -> "rep stosb %al, ..."
std::string single_spaced(std::string_view text) {
    std::string result;
    for (char c : text) {
        bool space = c == ' ' || c == '\t';
        if (!space) result += c;
        if (space && !result.empty() && result.back() != ' ') result += ' ';
    }
    if (result.ends_with(' ')) result.pop_back();
    return result;
}

// ff /4 with a displacement from rip: `jmp *table(%rip)`, with or without a prefix.
bool is_through_fixed_place(Bytes bytes) {
    if (!bytes.empty() && (bytes[0] == 0x3e || bytes[0] == 0xf2)) bytes = bytes.subspan(1);
    return bytes.size() == 6 && bytes[0] == 0xff && bytes[1] == 0x25;
}

// "movslq (%rdx,%rax,4), %rax", "jmpq *64(,%rax,8)"
bool is_indexed_x86(std::string_view text) {
    const size_t open = text.find('('), close = text.find(')', open);
    if (close == text.npos) return false;
    const std::string_view inside = text.substr(open, close - open);
    return std::count(inside.begin(), inside.end(), ',') == 2 &&
           (inside.ends_with("4") || inside.ends_with("8"));
}

// "ldrsw x1, [x0, x1, lsl #2]", "ldrb w2, [x0, w1, uxtw]"
bool is_indexed_arm(std::string_view text) {
    const size_t open = text.find("[x");
    if (open == text.npos) return false;
    const size_t comma = text.find(", ", open);
    return comma != text.npos && (text[comma + 2] == 'x' || text[comma + 2] == 'w');
}

std::span<const char* const> call_register_names(Architecture architecture) {
    switch (architecture) {
    case Architecture::x86_64: return kCallRegistersX86;
    case Architecture::aarch64: return kCallRegistersArm;
    }
    return {};
}

}  // namespace

std::optional<Architecture> architecture_named(std::string_view name) {
    if (name == "x86_64") return Architecture::x86_64;
    if (name == "aarch64") return Architecture::aarch64;
    return std::nullopt;
}

// LLVM's objects point at one another: they are destroyed from the last to the first.
struct Disassembler::Parts {
    Architecture architecture{};
    std::unique_ptr<llvm::MCRegisterInfo> registers;
    std::unique_ptr<llvm::MCAsmInfo> assembly;
    std::unique_ptr<llvm::MCInstrInfo> instructions;
    std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
    std::unique_ptr<llvm::MCContext> context;
    std::unique_ptr<llvm::MCDisassembler> disassembler;
    std::unique_ptr<llvm::MCInstrAnalysis> analysis;
    std::unique_ptr<llvm::MCInstPrinter> printer;
    std::vector<unsigned> call_registers;

    bool make(const llvm::Target& target, const llvm::Triple& triple);
    bool is_call_register(unsigned number) const;
    bool writes_call_register(const Instruction& instruction) const;
    bool is_indirect(const Instruction& instruction) const;
};

bool Disassembler::Parts::make(const llvm::Target& target, const llvm::Triple& triple) {
    const std::string& name = triple.str();
    registers.reset(target.createMCRegInfo(name));
    if (!registers) return false;
    assembly.reset(target.createMCAsmInfo(*registers, name, llvm::MCTargetOptions()));
    instructions.reset(target.createMCInstrInfo());
    subtarget.reset(target.createMCSubtargetInfo(name, "", features_of(architecture)));
    if (!assembly || !instructions || !subtarget) return false;
    context =
        std::make_unique<llvm::MCContext>(triple, assembly.get(), registers.get(), subtarget.get());
    disassembler.reset(target.createMCDisassembler(*subtarget, *context));
    analysis.reset(target.createMCInstrAnalysis(instructions.get()));
    printer.reset(target.createMCInstPrinter(triple, 0, *assembly, *instructions, *registers));
    if (!disassembler || !analysis || !printer) return false;
    for (unsigned i = 1; i < registers->getNumRegs(); ++i) {
        auto names = call_register_names(architecture);
        std::string_view reg = registers->getName(i);
        if (std::find(names.begin(), names.end(), reg) != names.end()) call_registers.push_back(i);
    }
    return call_registers.size() == call_register_names(architecture).size();
}

bool Disassembler::Parts::is_call_register(unsigned number) const {
    return std::any_of(call_registers.begin(), call_registers.end(), [&](unsigned reg) {
        return registers->isSuperOrSubRegisterEq(reg, number);
    });
}

bool Disassembler::Parts::writes_call_register(const Instruction& instruction) const {
    const llvm::MCInst& inst = instruction.inst;
    const llvm::MCInstrDesc& what = instructions->get(inst.getOpcode());
    for (unsigned i = 0; i < std::min<unsigned>(what.getNumDefs(), inst.getNumOperands()); ++i) {
        if (inst.getOperand(i).isReg() && is_call_register(inst.getOperand(i).getReg())) {
            return true;
        }
    }
    for (unsigned i = 0; i < what.getNumImplicitDefs(); ++i) {
        if (is_call_register(what.getImplicitDefs()[i])) return true;
    }
    return false;
}

Disassembler::Disassembler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Disassembler::Disassembler(Disassembler&&) noexcept = default;
Disassembler::~Disassembler() = default;

Result<Disassembler> Disassembler::create(Architecture architecture) {
    initialize(architecture);
    llvm::Triple triple(triple_of(architecture));
    std::string why;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple.str(), why);
    auto parts = std::make_unique<Parts>();
    parts->architecture = architecture;
    if (target == nullptr || !parts->make(*target, triple)) {
        return Error{"this LLVM cannot disassemble " + triple.str()};
    }
    return Disassembler(std::move(parts));
}

Architecture Disassembler::architecture() const {
    return parts_->architecture;
}

std::optional<Instruction> Disassembler::decode(Bytes code, uint64_t offset) const {
    auto at = decode_one(code, offset);
    if (!at || parts_->architecture != Architecture::x86_64 || !is_only_prefixes(at->bytes)) {
        return at;
    }
    auto rest = decode(code, offset + at->size);
    if (!rest) return std::nullopt;
    rest->prefix = text(*at) + " " + rest->prefix;
    rest->offset = offset;
    rest->size += at->size;
    rest->bytes = code.subspan(offset, rest->size);
    return rest;
}

std::optional<Instruction> Disassembler::decode_one(Bytes code, uint64_t offset) const {
    if (offset >= code.size()) return std::nullopt;
    Bytes rest = code.subspan(offset);
    Instruction instruction;
    instruction.offset = offset;
    auto status = parts_->disassembler->getInstruction(instruction.inst, instruction.size,
                                                       llvm::ArrayRef(rest.data(), rest.size()),
                                                       offset, llvm::nulls());
    if (status != llvm::MCDisassembler::Success || instruction.size == 0) return std::nullopt;
    instruction.bytes = rest.first(instruction.size);
    return instruction;
}

std::string Disassembler::text(const Instruction& instruction) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    parts_->printer->printInst(&instruction.inst, instruction.offset, "", *parts_->subtarget,
                               stream);
    stream.flush();
    return instruction.prefix + single_spaced(text);
}

std::string Disassembler::quoted(const Instruction& instruction) const {
    return "+" + std::to_string(instruction.offset) + " `" + text(instruction) + "`";
}

// endbr64 and bti mark places that an indirect call may reach; LLVM does not say that they do
// nothing.
bool Disassembler::is_landing_pad(const Instruction& instruction) const {
    static constexpr uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    Bytes bytes = instruction.bytes;
    if (bytes.size() != 4) return false;
    switch (parts_->architecture) {
    case Architecture::x86_64: return std::equal(bytes.begin(), bytes.end(), kEndbr64);
    case Architecture::aarch64:  // bti, bti c, bti j, bti jc: d503241f with two bits free
        return (bytes[0] & 0x3f) == 0x1f && bytes[1] == 0x24 && bytes[2] == 0x03 &&
               bytes[3] == 0xd5;
    }
    return false;
}

bool Disassembler::keeps_call(const Instruction& instruction) const {
    if (is_landing_pad(instruction)) return true;
    const llvm::MCInstrDesc& what = parts_->instructions->get(instruction.inst.getOpcode());
    if (what.mayStore() || what.hasUnmodeledSideEffects()) return false;
    if (what.isBranch() || what.isCall() || what.isReturn() || what.isTerminator()) return false;
    return !parts_->writes_call_register(instruction);
}

std::optional<int64_t> Disassembler::direct_target(const Instruction& instruction) const {
    uint64_t target = 0;
    const llvm::MCInst& inst = instruction.inst;
    if (!parts_->analysis->isBranch(inst) && !parts_->analysis->isCall(inst)) return std::nullopt;
    if (!parts_->analysis->evaluateBranch(inst, instruction.offset, instruction.size, target)) {
        return std::nullopt;
    }
    return static_cast<int64_t>(target);
}

bool Disassembler::Parts::is_indirect(const Instruction& instruction) const {
    return instructions->get(instruction.inst.getOpcode()).isIndirectBranch();
}

bool Disassembler::is_computed_jump(const Instruction& instruction) const {
    return parts_->is_indirect(instruction) && !is_through_fixed_place(instruction.bytes);
}

bool Disassembler::is_pointer_jump(const Instruction& instruction) const {
    return parts_->is_indirect(instruction) && is_through_fixed_place(instruction.bytes);
}

bool Disassembler::is_return(const Instruction& instruction) const {
    return parts_->instructions->get(instruction.inst.getOpcode()).isReturn();
}

std::optional<int64_t> Disassembler::jump_target(const Instruction& instruction) const {
    if (parts_->analysis->isCall(instruction.inst)) return std::nullopt;
    return direct_target(instruction);
}

// 70 to 7f and 0f 80 to 0f 8f (Intel's manual, volume 2, "Jcc").
int Disassembler::condition(const Instruction& instruction) const {
    if (parts_->architecture != Architecture::x86_64) return -1;
    const Bytes bytes = instruction.bytes;
    if (bytes.size() == 2 && bytes[0] >> 4 == 7) return bytes[0] & 15;
    if (bytes.size() == 6 && bytes[0] == 0x0f && bytes[1] >> 4 == 8) return bytes[1] & 15;
    return -1;
}

bool Disassembler::never_goes_on(const Instruction& instruction) const {
    const llvm::MCInstrDesc& what = parts_->instructions->get(instruction.inst.getOpcode());
    if (what.isCall()) return false;
    return what.isBarrier() || what.isReturn() || what.isTrap();
}

bool Disassembler::takes_from_table(const Instruction& instruction) const {
    const llvm::MCInst& inst = instruction.inst;
    const llvm::MCInstrDesc& what = parts_->instructions->get(inst.getOpcode());
    if (parts_->architecture == Architecture::aarch64) {  // ldrb w0, [x1, w2, uxtw]
        return what.mayLoad() && is_indexed_arm(text(instruction));
    }
    if (!instruction.bytes.empty() && instruction.bytes[0] == 0x3e && what.isIndirectBranch())
        return true;  // `notrack`: compilers write it before jumps by tables alone
    return (what.mayLoad() || what.isIndirectBranch()) && is_indexed_x86(text(instruction));
}

}  // namespace mlbcc::compiler
