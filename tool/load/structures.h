// What the kernel's structures are known from: its BTF, or a tree of headers. Rules ask for them by
// `task`, templates by `#include <linux/sched.h>` and the like.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/codegen.h"
#include "host/live_host.h"
#include "kernel/kernel_headers.h"
#include "load/rule_types.h"
#include "load/template_set.h"
#include "rules/rules.h"
#include "rules/types.h"

namespace mlbcc::load {

struct Structures {
    std::optional<kernel::HeaderChoice> chosen;  // where a rule or a template may ask
    bool are_included = false;                   // by a template that some rule is on
    // Of those templates, where the structures are known from BTF.
    codegen::DefinitionTexts texts;
    std::string kernel_dir;          // for libbcc
    std::vector<std::string> flags;  // for clang, where real headers take our tree's place
    std::optional<kernel::UnpackedHeaders> unpacked;
};

// Gives `types` what `task` is. `headers`: auto, btf or a folder (--headers). An Error where there
// are none and a template needs them, or the folder is of no use.
Result<Structures> choose_structures(const std::string& headers, const rules::RuleSet& rules,
                                     const TemplateSet& templates, host::LiveHost& host,
                                     rules::TypeTable& types, const Reading& reading);

}  // namespace mlbcc::load
