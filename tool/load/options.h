// Which rules are loaded, and how.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/codegen.h"

namespace mlbcc::load {

struct RuleOptions {                 // what every subcommand that reads rules needs
    std::vector<std::string> rules;  // files, or names of bundled ones
    // Text that an option stands for, by the name that it has among `rules`.
    std::map<std::string, std::string, std::less<>> given;
    std::string templates;       // --templates DIR
    bool keep_mangled = false;   // names of C++ as compilers write them
    bool exact_entry = false;    // probe the first byte, whatever it costs
    bool use_cache = true;       // of what was compiled before
    bool watch = false;          // these files: a change of them changes the rules
    bool late_anywhere = false;  // await libraries in folders that nobody names, too
    // Who opens a library that is awaited waits for the tracer no longer than that.
    std::chrono::nanoseconds open_wait = std::chrono::seconds(20);
    std::string headers = "auto";  // --headers auto|btf|DIR
    std::optional<codegen::AttachMode> attach;
};

struct LoadOptions {                            // of the programs that the rules become
    std::optional<codegen::AttachMode> attach;  // none: the best that there is
    bool everyone = false;                      // processes are not told apart
    size_t buffer_bytes = 0;                    // of a CPU's ring
};

}  // namespace mlbcc::load
