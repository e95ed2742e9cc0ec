#include "load/frontend.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/as_caller.h"
#include "base/file_cache.h"
#include "files/file_limit.h"
#include "files/paths.h"

namespace mlbcc::load {
namespace {

namespace fs = std::filesystem;

// What the same text may become depends on: this program, its helper, that one's libraries (when
// one is installed, the loader's cache is made anew), the kernel.
std::string versions(const std::string& helper) {
    utsname kernel{};
    ::uname(&kernel);
    return fmt::format("mlbcc {} {} {} {} {} {}", MLBCC_VERSION, file_state(helper),
                       file_state("/etc/ld.so.cache"), kernel.release, kernel.version,
                       kernel.machine);
}

plan::Arch arch_of(target::Host& host) {
    return host.architecture() == "x86_64" ? plan::Arch::x86_64 : plan::Arch::arm64;
}

}  // namespace

Frontend::Frontend(const RuleOptions& options, Steps& steps, FrontendUse use)
    : sources(options.watch), rule_names(options.rules), options_(options), steps_(steps),
      use_(std::move(use)),
      paths_(files::InstallHints::current(
          options.templates.empty() ? std::nullopt : std::make_optional(options.templates))) {}

Result<void> Frontend::start_compiler() {
    // A command, which is there already, keeps its limit.
    if (auto allowed = files::allow_all_files(); !allowed) return allowed;
    Result<std::string> helper = paths_.compiler();
    if (!helper) return helper.error();
    const std::string folder = options_.use_cache ? files::cache_folder() : "";
    compiler.emplace(*helper, folder.empty() ? FileCache() : FileCache(folder), versions(*helper));
    Result<void> started = compiler->start_unless_known(known_by());
    steps_.done("start helper");
    return started;
}

// By which a start is known that is likely to need nothing compiled.
std::string Frontend::known_by() const {
    return fmt::format("{}\n{}\n{} {}", fmt::join(options_.rules, "\n"), options_.templates,
                       options_.attach ? static_cast<int>(*options_.attach) : -1, use_.run_by);
}

void Frontend::remember_start() {
    compiler->remember_start(known_by());
}

Result<void> Frontend::up_to_plan(std::vector<process::ProcessView> views) {
    host = std::make_unique<host::LiveHost>(std::move(views));
    if (!compiler) {
        if (auto done = start_compiler(); !done) return done;
    }
    if (auto done = read_rules(); !done) return done;
    if (diagnostics.has_errors()) return {};
    if (auto done = read_types(); !done) return done;
    std::vector<target::Probe> probes = resolve();
    plan = plan::make_plan(std::move(probes), rules, types, arch_of(*host), diagnostics);
    steps_.done("plan");
    return {};
}

// The templates first: the groups of the probes that they define are kinds of targets.
Result<void> Frontend::read_rules() {
    // The bundled ones, and in their place or besides them those of --templates.
    Result<std::vector<std::string>> folders = paths_.template_folders();
    if (!folders) return folders.error();
    Result<TemplateSet> read = read_templates(*folders, sources);
    if (!read) return read.error();
    templates = std::move(*read);
    Result<std::vector<rules::ProbeDefinition>> definitions = templates.definitions();
    if (!definitions) return definitions.error();
    rules::LoadFile load = [&](std::string_view name,
                               std::string_view directory) -> Result<rules::LoadedFile> {
        if (auto given = options_.given.find(name); given != options_.given.end())
            return rules::LoadedFile{given->first, given->first, "", given->second};
        const Result<AsCaller> as_caller = AsCaller::begin();
        if (!as_caller) return as_caller.error();
        Result<std::string> path = paths_.find_rules_file(name, directory);
        if (!path) return path.error();
        Result<std::string> text = sources.read(*path, rules::kMaxRuleFile);
        if (!text) return text.error();
        std::error_code code;
        std::string identity = fs::weakly_canonical(*path, code).string();
        std::string folder = fs::path(identity).parent_path().string();
        return rules::LoadedFile{*path, identity, folder, std::move(*text)};
    };
    rules = rules::parse(options_.rules, load, diagnostics,
                         {std::move(*definitions), options_.keep_mangled});
    steps_.done("parse rules");
    return {};
}

Result<void> Frontend::read_types() {
    const Reading reading{*compiler, sources, steps_, diagnostics};
    type_headers = find_headers(rules, paths_.rules_folders(), reading);
    Result<rules::TypeTable> table =
        load::read_types(rules, type_headers, templates.libc_dir, reading);
    if (!table) return table.error();
    types = std::move(*table);
    // Before resolve(): whoever is given types there keeps them.
    Result<Structures> chosen =
        choose_structures(options_.headers, rules, templates, *host, types, reading);
    if (!chosen) return chosen.error();
    structures = std::move(*chosen);
    return {};
}

std::vector<target::Probe> Frontend::resolve() {
    std::vector<target::Probe> probes =
        use_.expects
            ? target::resolve_expecting(rules, types, *host, diagnostics, libraries, left_out)
            : target::resolve(rules, types, *host, diagnostics);
    steps_.done("resolve");
    return probes;
}

bool Frontend::grows() const {
    return std::ranges::any_of(libraries, [this](const target::SoughtLibrary& library) {
        return library.may_come() || grows_anywhere(library);
    });
}

bool Frontend::grows_anywhere(const target::SoughtLibrary& library) const {
    return options_.late_anywhere && library.may_come_anywhere();
}

std::vector<host::WatchedPlace> Frontend::places(const target::LibraryName& name) const {
    return host->places(name.text, name.directory, options_.late_anywhere);
}

const target::UserFunction& Frontend::function(plan::ProbeId probe) const {
    const plan::ProbePlan& planned = plan.probes[static_cast<uint32_t>(probe)];
    return std::get<target::UserFunction>(planned.probe->at);
}

Result<plan::Growth> Frontend::add_late(target::Host& late, const std::string& name,
                                        Diagnostics& found) {
    std::vector<target::Probe> probes = target::resolve_late(rules, types, late, found, left_out);
    for (target::Probe& probe : probes) {
        auto& function = std::get<target::UserFunction>(probe.at);
        // The path is that of a descriptor.
        if (function.path.ends_with("/" + function.soname)) function.soname = name;
    }
    for (target::LeftOut& one : left_out) {
        if (std::ranges::all_of(one.library, ::isdigit)) one.library = name;
    }
    plan::Growth growth = plan::grow(plan, std::move(probes), rules, found);
    if (auto done = choose_entries(growth.first_probe, late); !done) return done.error();
    return growth;
}

Result<void> Frontend::choose_entries() {
    return choose_entries(0, *host);
}

Result<void> Frontend::choose_entries(size_t first, target::Host& from) {
    auto done = choose_places(plan, first, options_.exact_entry, from, *compiler, entries);
    if (!done) return done;
    steps_.done("choose entries");
    return {};
}

bool Frontend::is_users_template(const std::string& name) const {
    if (options_.templates.empty()) return false;
    std::error_code code;
    const fs::path folder = fs::weakly_canonical(options_.templates, code) / "";
    return templates.path_of(name).starts_with(folder.string());
}

}  // namespace mlbcc::load
