// Where the tool's own files are: templates and rules beside the installed program or in the source
// tree, and the helper that holds the compiler.
//
//   find_rules_file("cuda", ".")  ->  /usr/share/mlbcc/rules/cuda.rules
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mlbcc::files {

// What the places are derived from; current() takes them from the running program.
struct InstallHints {
    std::string executable_folder;         // of the running program
    std::optional<std::string> templates;  // --templates DIR
    std::string templates_variable;        // MLBCC_TEMPLATES, "" where it is not set
    // What the program was built from, and where; "" where it runs from another place: then it is
    // installed, and takes what is installed with it.
    std::string source_folder, build_folder;

    static InstallHints current(std::optional<std::string> templates);
};

// Where what was compiled is kept, for this user alone: MLBCC_CACHE, /var/cache/mlbcc for root, or
// mlbcc in the user's cache folder; "" where there is no place.
std::string cache_folder();

class InstallPaths {
public:
    explicit InstallPaths(InstallHints hints) : hints_(std::move(hints)) {}

    // The folders of the BPF C templates: MLBCC_TEMPLATES, the installed one or the source tree's,
    // and behind it that of --templates, whose files add to it or take the place of those of the
    // same name. An Error names every place looked at.
    Result<std::vector<std::string>> template_folders() const;

    // The program mlbcc-bcc: beside this one, in ../libexec/mlbcc, or where it was built.
    Result<std::string> compiler() const;

    // The folders of bundled rules that exist, and headers below them (types/), best first.
    std::vector<std::string> rules_folders() const;

    // What `--rules NAME` and `import "NAME"` mean. A name with a `/` is a path (from `directory`,
    // where it is relative), `x.rules` is one, too, if there is such a file; else NAME.rules of the
    // bundled rules.
    Result<std::string> find_rules_file(std::string_view name, std::string_view directory) const;

private:
    std::vector<std::string> bundled(std::string_view kind) const;
    std::vector<std::string> bundled_names() const;  // "cuda", "cuda_all", ...

    InstallHints hints_;
};

}  // namespace mlbcc::files
