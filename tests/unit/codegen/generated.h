// The C that a rule file becomes, without what the templates bring: from the maps on.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "codegen/codegen.h"
#include "plan/planned.h"

namespace mlbcc::test {

inline const codegen::Templates& shipped_templates() {
    static const codegen::Templates all = [] {
        codegen::Templates read;
        for (const auto& entry :
             std::filesystem::directory_iterator(MLBCC_SOURCE_DIR "/probe_templates")) {
            if (!entry.is_regular_file()) continue;
            std::ifstream file(entry.path(), std::ios::binary);
            std::stringstream text;
            text << file.rdbuf();
            read[entry.path().filename().string()] = text.str();
        }
        return read;
    }();
    return all;
}

// "kind name shape-or-dash" of each program's function, and where calls are passed on to it.
inline std::string functions(const codegen::Program& program) {
    static constexpr const char* kKinds[] = {
        "session", "entry",          "return",       "raw_tracepoint", "tracepoint",
        "syscall", "kernel session", "kernel entry", "kernel return",  "usdt",
        "python",  "moving entry",   "moving return"};
    std::string out;
    for (const codegen::Function& one : program.functions) {
        if (!one.shape && !one.point.empty()) continue;  // follows processes
        std::string shape = one.shape ? std::to_string(static_cast<uint32_t>(*one.shape)) : "-";
        std::string at = one.table.empty() ? "" : fmt::format(", {}", one.table);
        if (one.slots.size() > 1 || !at.empty())
            at += fmt::format(" {}", fmt::join(one.slots, " "));
        out += fmt::format("// {} {} {}{}\n", kKinds[static_cast<size_t>(one.kind)], one.name,
                           shape, at);
    }
    return out;
}

inline size_t count_of(const std::string& text, const std::string& what) {
    size_t found = 0;
    for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
    return found;
}

// From `begin` up to `end`, both found from the left.
inline std::string between(const std::string& text, const std::string& begin,
                           const std::string& end) {
    size_t from = text.find(begin);
    if (from == text.npos) return {};
    size_t to = text.find(end, from);
    return text.substr(from, to == text.npos ? text.npos : to - from);
}

inline std::string generated(const std::string& rules, codegen::AttachMode mode,
                             plan::Arch arch = plan::Arch::x86_64) {
    const Planned planned(rules, kDriver, cuda_prototypes(), arch);
    if (!planned.messages().empty()) return planned.messages();
    codegen::Options options{.mode = mode, .kernel_mode = mode, .templates = &shipped_templates()};
    auto program = codegen::generate(planned.plan(), options);
    if (!program) return program.error().message();
    return functions(*program) +
           between(program->source, "#line 1 \"settings\"",
                   "#line 1 \"probe_templates/runtime.bpf.c\"") +
           between(program->source, "#line 1 \"maps\"", "#line 1 \"probe_templates/follow.bpf.c\"");
}

}  // namespace mlbcc::test
