#include "compiler/listing.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <algorithm>
#include <array>
#include <memory>

namespace mlbcc::compiler {

namespace {

#define MLBCC_HELPER_NAME(name) "bpf_" #name
constexpr const char* kHelpers[] = {__BPF_FUNC_MAPPER(MLBCC_HELPER_NAME)};
#undef MLBCC_HELPER_NAME

struct Dispose {
    void operator()(void* context) const { LLVMDisasmDispose(context); }
};
using Context = std::unique_ptr<void, Dispose>;

bool initialize() {
    LLVMInitializeBPFTargetInfo();
    LLVMInitializeBPFTargetMC();
    LLVMInitializeBPFDisassembler();
    return true;
}

Context make_context() {
    static const bool kReady = initialize();  // once, for two threads
    if (!kReady) return nullptr;
    return Context(LLVMCreateDisasm("bpfel", nullptr, 0, nullptr, nullptr));
}

// "\tr6 = r1" -> "r6 = r1"; "" where LLVM knows no such instruction.
std::string plain_text(const Context& context, Code code) {
    std::array<char, 160> text{};
    auto* bytes = reinterpret_cast<uint8_t*>(const_cast<bpf_insn*>(code.data()));
    if (!context || LLVMDisasmInstruction(context.get(), bytes, code.size_bytes(), 0, text.data(),
                                          text.size()) == 0) {
        return {};
    }
    std::string out = text.data();
    out.erase(0, out.find_first_not_of(" \t"));
    return out;
}

std::string helper_name(int32_t number) {
    bool known = number > 0 && static_cast<size_t>(number) < std::size(kHelpers);
    return known ? kHelpers[number] : "helper " + std::to_string(number);
}

// The function that is linked in that place of the program.
const int32_t* common_at(const Linked& linked, size_t place) {
    for (const auto& [number, at] : linked.places) {
        if (at == place) return &number;
    }
    return nullptr;
}

std::string call_text(const Linked& linked, size_t at, const ListingNames& names) {
    const bpf_insn& one = linked.code[at];
    if (one.src_reg == BPF_PSEUDO_KFUNC_CALL) {
        return "call kernel function with BTF id " + std::to_string(one.imm);
    }
    if (one.src_reg != BPF_PSEUDO_CALL) return "call " + helper_name(one.imm);
    auto place = static_cast<size_t>(static_cast<int64_t>(at) + 1 + one.imm);
    const int32_t* number = common_at(linked, place);
    auto name = number != nullptr ? names.commons.find(*number) : names.commons.end();
    return "call " + (name == names.commons.end() ? std::to_string(place) : name->second);
}

std::string instruction_text(const Context& context, const Linked& linked, size_t at,
                             const ListingNames& names) {
    const bpf_insn& one = linked.code[at];
    if (one.code == kCall) return call_text(linked, at, names);
    if (one.code == kLoadImmediate64 && one.src_reg == BPF_PSEUDO_MAP_FD) {
        auto map = names.maps.find(one.imm);
        std::string name = map == names.maps.end() ? std::to_string(one.imm) : map->second;
        return "r" + std::to_string(one.dst_reg) + " = map " + name;
    }
    return plain_text(context, Code(linked.code).subspan(at));
}

// Where the function begins that has this instruction, and its name.
std::pair<size_t, std::string> function_at(const std::string& program, const Linked& linked,
                                           size_t at, const ListingNames& names) {
    std::pair<size_t, std::string> found{0, program};
    for (const auto& [number, place] : linked.places) {
        auto name = names.commons.find(number);
        if (place <= at && place >= found.first && name != names.commons.end())
            found = {place, name->second};
    }
    return found;
}

}  // namespace

std::vector<Listed> listing_of(const std::string& program, const Linked& linked,
                               const LineTable& lines, const ListingNames& names) {
    const Context context = make_context();
    std::vector<Listed> listing;
    for (size_t i = 0; i < linked.code.size(); ++i) {
        auto [begin, function] = function_at(program, linked, i, names);
        listing.push_back({static_cast<uint32_t>(i),
                           lines.line(function, static_cast<uint32_t>(i - begin)),
                           instruction_text(context, linked, i, names)});
        if (linked.code[i].code == kLoadImmediate64) ++i;  // its second half is no instruction
    }
    return listing;
}

}  // namespace mlbcc::compiler
