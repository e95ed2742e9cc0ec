// What a "compile" request asks for (program.h shows one).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/link.h"
#include "compiler/reply.h"

namespace mlbcc::compiler {

struct ProgramSpec {
    std::string name;      // of the C function
    int type = 0;          // BPF_PROG_TYPE_...
    int attach_type = -1;  // expected_attach_type; -1: none
};

struct Job {
    std::string source;
    std::vector<std::string> cflags;
    std::string kernel_dir;  // absolute
    std::vector<ProgramSpec> programs;
    Kfuncs kfuncs;
    std::map<int32_t, std::string> commons;  // C functions by the number that calls them
    std::map<std::string, UniqueFd> maps;    // that exist already
    bool emit_only = false;
    bool listing = false;  // asks for each program's instructions as text, with their lines
    bool bundle = false;   // asks for the compiled programs as bytes, too (bundle.h)
};

Result<Job> read_job(const JsonValue& request, std::vector<UniqueFd> fds);

}  // namespace mlbcc::compiler
