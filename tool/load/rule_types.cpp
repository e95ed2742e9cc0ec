#include "load/rule_types.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "rules/ctypes.h"
#include "target/target.h"
#include "text/cxx_names.h"

namespace mlbcc::load {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> existing(const fs::path& path) {
    std::error_code code;
    if (!fs::is_regular_file(path, code)) return std::nullopt;
    return path.string();
}

// Folders of headers that are not the compiler's own: the CUDA toolkit's.
std::vector<std::string> toolkit_folders() {
    std::vector<std::string> folders;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* value = std::getenv(variable)) {
            folders.push_back(std::string(value) + "/include");
        }
    }
    folders.emplace_back("/usr/local/cuda/include");
    return folders;
}

// Where a `header` of a rule file is looked for: beside it, among the bundled ones, in the toolkit.
std::vector<std::string> header_folders(const std::string& rule_directory,
                                        const std::vector<std::string>& bundled) {
    std::vector<std::string> folders{rule_directory};
    folders.insert(folders.end(), bundled.begin(), bundled.end());
    for (std::string& folder : toolkit_folders()) folders.push_back(std::move(folder));
    folders.insert(folders.end(), {"/usr/local/include", "/usr/include"});
    return folders;
}

std::optional<std::string> find_header(const rules::Header& header,
                                       const std::vector<std::string>& folders) {
    for (const std::string& file : header.files) {
        if (auto path = file.starts_with("/") ? existing(file) : std::nullopt) return path;
        for (const std::string& folder : folders) {
            if (auto path = existing(fs::path(folder) / file)) return path;
        }
    }
    return std::nullopt;
}

// The fields of probes that templates define, as libclang wants to see them.
std::string definitions_text(const std::vector<const rules::ProbeDefinition*>& definitions) {
    std::string text;
    for (const rules::ProbeDefinition* one : definitions) {
        text += fmt::format("#line {} \"{}\"\n{}\nvoid {}(struct {} fields);\n", one->line,
                            one->file, one->fields, one->prototype(), one->structure());
    }
    return text;
}

// Only prototypes that some rule can mean are asked for: cuda.h alone has 600.
std::vector<std::string>
wanted_functions(const rules::RuleSet& rules,
                 const std::vector<const rules::ProbeDefinition*>& definitions) {
    std::set<std::string> wanted;
    for (const rules::ProbeDefinition* one : definitions) wanted.insert(one->prototype());
    for (const rules::Rule& rule : rules.rules) {
        for (const rules::Target& target : rule.targets) {
            const auto* of_kernel = std::get_if<rules::KernelTarget>(&target.node);
            if (of_kernel != nullptr) wanted.insert(of_kernel->function.text);
            const auto* function = std::get_if<rules::FunctionTarget>(&target.node);
            if (function == nullptr) continue;
            wanted.insert(CxxPattern::is_one(function->pattern) ? "_Z*" : function->pattern + "*");
            for (const rules::Library& library : rules.libraries) {  // cuMemAlloc_v2 -> cuMemAlloc*
                if (library.name != function->library) continue;
                wanted.insert(target::base_name(function->pattern, library.variants) + "*");
            }
        }
    }
    if (!rules.casts.empty()) wanted.insert(std::string(rules::kCastPrefix) + "*");
    return {wanted.begin(), wanted.end()};
}

// Those that headers include: what they say is read, but taken for nothing yet.
Result<void> admit_included(const std::string& json, const Reading& reading) {
    if (!reading.sources.asks()) return {};
    Result<std::vector<std::string>> included = rules::read_files(json);
    if (!included) return included.error();
    for (const std::string& file : *included) {
        if (auto done = reading.sources.admit(file); !done)
            reading.diagnostics.error_at({file}, done.error().message()).help(done.error().help);
    }
    return {};
}

}  // namespace

std::vector<const rules::ProbeDefinition*> used_definitions(const rules::RuleSet& rules) {
    std::vector<const rules::ProbeDefinition*> used;
    for (const rules::ProbeDefinition& one : rules.definitions) {
        auto means = [&](const rules::Target& target) {
            const auto* defined = std::get_if<rules::DefinedTarget>(&target.node);
            return defined != nullptr && defined->group == one.group;
        };
        bool any = std::ranges::any_of(rules.rules, [&](const rules::Rule& rule) {
            return std::ranges::any_of(rule.targets, means);
        });
        if (any) used.push_back(&one);
    }
    return used;
}

std::vector<std::string> find_headers(const rules::RuleSet& rules,
                                      const std::vector<std::string>& bundled,
                                      const Reading& reading) {
    std::vector<std::string> found;
    for (const rules::Header& header : rules.headers) {
        const std::vector<std::string> folders = header_folders(header.directory, bundled);
        if (auto path = find_header(header, folders)) {
            if (std::ranges::find(found, *path) != found.end()) continue;  // of another rule file
            if (auto done = reading.sources.admit(*path); done)
                found.push_back(std::move(*path));
            else
                reading.diagnostics.error(header.span, done.error().message())
                    .help(done.error().help);
            continue;
        }
        Diagnostic& error = reading.diagnostics.error(
            header.span, fmt::format("the header `{}` was not found", header.files.back()));
        for (const std::string& folder : folders) error.note("searched " + folder);
        error.help("give its path, or install what it belongs to");
    }
    return found;
}

Result<rules::TypeTable> read_types(const rules::RuleSet& rules,
                                    const std::vector<std::string>& headers,
                                    const std::string& libc_dir, const Reading& reading) {
    const std::vector<const rules::ProbeDefinition*> definitions = used_definitions(rules);
    bpf::TypesRequest request;
    request.headers = headers;
    request.text = rules::declarations_text(rules) + definitions_text(definitions);
    request.names = wanted_functions(rules, definitions);
    request.include_dirs = toolkit_folders();
    request.system_dirs = {libc_dir};
    request.list_files = reading.sources.asks();
    if (request.headers.empty() && request.text.empty()) return rules::TypeTable();
    Result<std::string> json = reading.compiler.types(std::move(request));
    if (!json) return json.error();
    reading.steps.done("C types (libclang)");
    if (auto done = admit_included(*json, reading); !done) return done.error();
    Result<rules::TypeTable> table = rules::read_types(*json, rules, reading.diagnostics);
    reading.steps.done("read types");
    return table;
}

}  // namespace mlbcc::load
