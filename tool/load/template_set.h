// The folders of templates to their texts: what BPF C is made from, the probes that they define,
// and the headers that lie beside them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/codegen.h"
#include "files/sources.h"
#include "rules/rules.h"

namespace mlbcc::load {

struct TemplateSet {
    codegen::Templates texts;                  // by name: "entry.bpf.c", "probes/off_cpu.bpf.c"
    std::map<std::string, std::string> paths;  // likewise
    std::string kernel_dir;   // of the kernel's headers, as far as libbcc and templates need them
    std::string task_header;  // declares the task_struct that rules ask for
    std::string libc_dir;     // declarations of the C library, for headers of libraries

    std::string path_of(const std::string& name) const;
    Result<std::vector<rules::ProbeDefinition>> definitions() const;
};

// What a folder has takes the place of what those before it have by the same name.
Result<TemplateSet> read_templates(const std::vector<std::string>& folders,
                                   files::Sources& sources);

}  // namespace mlbcc::load
