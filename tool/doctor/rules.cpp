// Rules taken as far as a trace would take them, but not attached.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "doctor/findings.h"
#include "files/paths.h"
#include "files/trusted_files.h"
#include "load/frontend.h"
#include "load/rehearsal.h"
#include "process/identity.h"

namespace mlbcc::doctor {
namespace {

// Which libraries are looked for, whatever the rules: a rule file without rules.
constexpr const char* kLibraries = "/doctor/libraries.rules";

std::vector<process::ProcessView> views_of(const std::vector<int>& pids) {
    std::vector<process::ProcessView> views;
    for (const int pid : pids) {
        if (auto view = process::view_of_process(pid)) views.push_back(std::move(*view));
    }
    if (!views.empty()) return views;
    return {
        process::view_of_command(process::Caller::current().environment, files::working_folder())};
}

// The first mistake, with its place and the first help.
Error first_mistake(const Diagnostics& diagnostics) {
    for (const Diagnostic& one : diagnostics.all()) {
        if (one.severity != Diagnostic::Severity::error) continue;
        const std::string place = one.span.place();
        Error error{place.empty() ? one.message : fmt::format("{}: {}", place, one.message)};
        for (const Diagnostic::Attachment& more : one.attachments) {
            if (more.kind == Diagnostic::Attachment::Kind::help && error.help.empty())
                error.help = more.text;
        }
        return error;
    }
    return {};
}

struct Asked {
    RulesFinding& found;
    bool optional;
    void operator()(const rules::FunctionTarget& /*target*/) { found.functions = true; }
    void operator()(const rules::UsdtTarget& /*target*/) { found.functions = true; }
    void operator()(const rules::KernelTarget& /*target*/) {
        found.kernel_functions = true;
        found.needs_kernel_functions |= !optional;
    }
    void operator()(const rules::SyscallTarget& /*target*/) { found.tracepoints = true; }
    void operator()(const rules::TracepointTarget& /*target*/) { found.tracepoints = true; }
    void operator()(const rules::DefinedTarget& /*target*/) {}
    void operator()(const rules::IntervalTarget& /*target*/) {}
};

void note_needs(const rules::RuleSet& rules, RulesFinding& found) {
    for (const rules::Rule& rule : rules.rules) {
        for (const rules::Target& target : rule.targets)
            std::visit(Asked{found, rule.optional}, target.node);
    }
}

bool needs(const rules::RuleSet& rules, const rules::Library& library) {
    return std::ranges::any_of(rules.rules, [&](const rules::Rule& rule) {
        return !rule.optional && std::ranges::any_of(rule.targets, [&](const rules::Target& one) {
            const auto* function = std::get_if<rules::FunctionTarget>(&one.node);
            return function != nullptr && !function->quoted && function->library == library.name;
        });
    });
}

bool have_name_in_common(const rules::Library& a, const rules::Library& b) {
    return std::ranges::any_of(a.files, [&](const std::string& file) {
        return std::ranges::find(b.files, file) != b.files.end();
    });
}

// A name without a folder, if it has one.
std::string shown_name(const rules::Library& library) {
    for (const std::string& file : library.files) {
        if (file.find('/') == std::string::npos) return file;
    }
    return library.files.empty() ? library.name : library.files.front();
}

rules::RuleSet listed_libraries() {
    const rules::LoadFile load = [](std::string_view name,
                                    std::string_view /*directory*/) -> Result<rules::LoadedFile> {
        const std::string path(name);
        Result<std::string> text = files::TrustedFiles::current().read(path, rules::kMaxRuleFile);
        if (!text) return text.error();
        return rules::LoadedFile{path, path, std::filesystem::path(path).parent_path().string(),
                                 std::move(*text)};
    };
    const files::InstallPaths paths(files::InstallHints::current(std::nullopt));
    for (const std::string& folder : paths.rules_folders()) {
        std::error_code code;
        if (!std::filesystem::exists(folder + kLibraries, code)) continue;
        Diagnostics diagnostics;
        return rules::parse(folder + kLibraries, load, diagnostics);
    }
    return {};
}

void find_libraries(const rules::RuleSet& rules, target::Host& host, Facts& found) {
    auto add = [&](const rules::Library& library, bool needed) {
        LibraryFinding one{shown_name(library), {}, needed};
        for (const std::string& file : library.files) {
            if (!one.files.empty()) break;
            one.files = host.find_library(file, library.directory).paths;
        }
        found.libraries.push_back(std::move(one));
    };
    for (const rules::Library& library : rules.libraries) add(library, needs(rules, library));
    for (const rules::Library& library : listed_libraries().libraries) {
        const bool known = std::ranges::any_of(rules.libraries, [&](const rules::Library& one) {
            return have_name_in_common(one, library);
        });
        if (!known) add(library, false);
    }
}

}  // namespace

void examine_rules(const session::TraceOptions& options, Facts& found) {
    RulesFinding& rules = found.rules;
    rules.names = options.rules.rules;
    load::Steps steps(false);
    load::Frontend frontend(options.rules, steps, {.expects = true});
    const Result<void> planned = frontend.up_to_plan(views_of(options.targets.pids));
    rules.rules = rules::written_rules(frontend.rules);
    rules.probes = frontend.plan.probes.size();
    rules.mistakes = frontend.diagnostics.error_count();
    note_needs(frontend.rules, rules);
    find_libraries(frontend.rules, *frontend.host, found);
    if (!planned) {
        rules.error = planned.error();
    } else if (rules.mistakes > 0) {
        rules.error = first_mistake(frontend.diagnostics);
    } else {
        rules.stacks =
            frontend.plan.knows_mappings() || frontend.plan.takes(rules::StackKind::python);
        load::Loader loader(frontend, steps);
        const Result<void> loaded = load::rehearse(options.loading(), frontend, loader);
        rules.works = loaded.ok();
        if (!loaded) rules.error = loaded.error();
    }
}

}  // namespace mlbcc::doctor
