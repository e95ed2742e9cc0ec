#include "compiler/link.h"

namespace mlbcc::compiler {

namespace {

// Calls `visit` with the index of each call of a helper.
template <typename Visit> void for_each_helper_call(std::span<const bpf_insn> code, Visit visit) {
    for (size_t i = 0; i < code.size(); ++i) {
        if (code[i].code == kLoadImmediate64)
            ++i;  // its second half is no instruction
        else if (code[i].code == kCall && code[i].src_reg == 0)
            visit(i);
    }
}

}  // namespace

Linked link(Code program, const Commons& commons, const Kfuncs& kfuncs) {
    Linked made{{program.begin(), program.end()}, {}};
    std::vector<bpf_insn>& linked = made.code;
    std::map<int32_t, size_t>& places = made.places;
    // What is appended may itself call: found when the walk gets there.
    for (size_t done = 0; done < linked.size();) {
        size_t end = linked.size();
        std::vector<int32_t> wanted;
        for_each_helper_call(std::span(linked).subspan(done), [&](size_t i) {
            int32_t number = linked[done + i].imm;
            if (commons.contains(number) && !places.contains(number)) wanted.push_back(number);
        });
        for (int32_t number : wanted) {
            if (places.contains(number)) continue;
            const Code& code = commons.at(number);
            places[number] = linked.size();
            linked.insert(linked.end(), code.begin(), code.end());
        }
        done = end;
    }
    for_each_helper_call(linked, [&](size_t i) {
        bpf_insn& at = linked[i];
        if (auto place = places.find(at.imm); place != places.end()) {
            at.src_reg = BPF_PSEUDO_CALL;
            at.imm = static_cast<int32_t>(place->second) - static_cast<int32_t>(i) - 1;
        } else if (auto kfunc = kfuncs.find(at.imm); kfunc != kfuncs.end()) {
            at.src_reg = BPF_PSEUDO_KFUNC_CALL;
            at.off = 0;  // a function of the kernel itself, not of a module
            at.imm = kfunc->second;
        }
    });
    return made;
}

}  // namespace mlbcc::compiler
