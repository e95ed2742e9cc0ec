// The C of rules to types, by libclang: the headers and declarations that they have, and the fields
// of the probes that templates define.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "bpf/remembering_compiler.h"
#include "files/sources.h"
#include "load/steps.h"
#include "rules/rules.h"
#include "rules/types.h"
#include "text/diagnostic.h"

namespace mlbcc::load {

// What reads a start's C, and where that tells what it did and what is wrong.
struct Reading {
    bpf::RememberingCompiler& compiler;
    files::Sources& sources;
    Steps& steps;
    Diagnostics& diagnostics;
};

// Of the probes that templates define, those that some rule is on.
std::vector<const rules::ProbeDefinition*> used_definitions(const rules::RuleSet& rules);

// The files that the rules' `header` lines mean. `bundled`: folders of the tool's own.
std::vector<std::string> find_headers(const rules::RuleSet& rules,
                                      const std::vector<std::string>& bundled,
                                      const Reading& reading);

Result<rules::TypeTable> read_types(const rules::RuleSet& rules,
                                    const std::vector<std::string>& headers,
                                    const std::string& libc_dir, const Reading& reading);

}  // namespace mlbcc::load
