#include "load/frontend.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/as_caller.h"
#include "base/file_cache.h"
#include "files/file_limit.h"
#include "files/paths.h"
#include "rules/ctypes.h"
#include "text/cxx_names.h"

namespace mlbcc::load {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxRuleFile = 1u << 20;
constexpr size_t kMaxTemplate = 1u << 20;

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

// What the same text may become depends on: this program, its helper, that one's libraries (when
// one is installed, the loader's cache is made anew), the kernel.
std::string versions(const std::string& helper) {
    utsname kernel{};
    ::uname(&kernel);
    return fmt::format("mlbcc {} {} {} {} {} {}", MLBCC_VERSION, file_state(helper),
                       file_state("/etc/ld.so.cache"), kernel.release, kernel.version,
                       kernel.machine);
}

}  // namespace

Frontend::Frontend(const RuleOptions& options, Steps& steps)
    : options_(options), steps_(steps),
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
                       options_.attach ? static_cast<int>(*options_.attach) : -1, run_by);
}

void Frontend::remember_start() {
    compiler->remember_start(known_by());
}

void Frontend::reads(const std::string& path) {
    if (options_.watch) files.push_back({path, file_state(path)});
}

Result<void> Frontend::read_rules() {
    if (auto read = read_templates(); !read) return read;
    rules::LoadFile load = [&](std::string_view name,
                               std::string_view directory) -> Result<rules::LoadedFile> {
        if (auto given = options_.given.find(name); given != options_.given.end())
            return rules::LoadedFile{given->first, given->first, "", given->second};
        const Result<AsCaller> as_caller = AsCaller::begin();
        if (!as_caller) return as_caller.error();
        Result<std::string> path = paths_.find_rules_file(name, directory);
        if (!path) return path.error();
        reads(*path);
        Result<std::string> text = trusted_.read(*path, kMaxRuleFile);
        if (!text) return text.error();
        std::error_code code;
        std::string identity = fs::weakly_canonical(*path, code).string();
        std::string folder = fs::path(identity).parent_path().string();
        return rules::LoadedFile{*path, identity, folder, std::move(*text)};
    };
    rules::parse(options_.rules, load, rules, diagnostics);
    rules.keep_mangled = options_.keep_mangled;
    rule_names = options_.rules;
    steps_.done("parse rules");
    return {};
}

std::optional<std::string> Frontend::find_header(const rules::Header& header,
                                                 const std::vector<std::string>& folders) const {
    for (const std::string& file : header.files) {
        if (auto path = file.starts_with("/") ? existing(file) : std::nullopt) return path;
        for (const std::string& folder : folders) {
            if (auto path = existing(fs::path(folder) / file)) return path;
        }
    }
    return std::nullopt;
}

std::vector<std::string> Frontend::find_headers() {
    std::vector<std::string> found;
    for (const rules::Header& header : rules.headers) {
        std::vector<std::string> folders = header_folders(header.directory, paths_.rules_folders());
        if (auto path = find_header(header, folders)) {
            if (std::ranges::find(found, *path) != found.end()) continue;  // of another rule file
            if (auto done = trusted_.admit(*path); done)
                found.push_back(std::move(*path));
            else
                diagnostics.error(header.span, done.error().message()).help(done.error().help);
            continue;
        }
        Diagnostic& error = diagnostics.error(
            header.span, fmt::format("the header `{}` was not found", header.files.back()));
        for (const std::string& folder : folders) error.note("searched " + folder);
        error.help("give its path, or install what it belongs to");
    }
    return found;
}

std::vector<const rules::ProbeDefinition*> Frontend::wanted_definitions() const {
    std::vector<const rules::ProbeDefinition*> wanted;
    for (const rules::ProbeDefinition& one : rules.definitions) {
        auto wants = [&](const rules::Target& target) {
            const auto* defined = std::get_if<rules::DefinedTarget>(&target.node);
            return defined != nullptr && defined->group == one.group;
        };
        bool any = std::ranges::any_of(rules.rules, [&](const rules::Rule& rule) {
            return std::ranges::any_of(rule.targets, wants);
        });
        if (any) wanted.push_back(&one);
    }
    return wanted;
}

// The fields of probes that templates define, as libclang wants to see them.
std::string Frontend::definitions_text() const {
    std::string text;
    for (const rules::ProbeDefinition* one : wanted_definitions()) {
        text += fmt::format("#line {} \"{}\"\n{}\nvoid {}(struct {} fields);\n", one->line,
                            one->file, one->fields, one->prototype(), one->structure());
    }
    return text;
}

// Only prototypes that some rule can mean are asked for: cuda.h alone has 600.
std::vector<std::string> Frontend::wanted_functions() const {
    std::set<std::string> wanted;
    for (const rules::ProbeDefinition* one : wanted_definitions()) wanted.insert(one->prototype());
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
Result<void> Frontend::admit_headers(const std::string& json) {
    if (!trusted_.asks() && !options_.watch) return {};
    Result<std::vector<std::string>> included = rules::read_files(json);
    if (!included) return included.error();
    for (const std::string& file : *included) {
        reads(file);
        if (auto done = trusted_.admit(file); !done)
            diagnostics.error_at({file}, done.error().message()).help(done.error().help);
    }
    return {};
}

Result<void> Frontend::read_types() {
    bpf::TypesRequest request;
    request.headers = type_headers_ = find_headers();
    request.text = rules::declarations_text(rules) + definitions_text();
    request.names = wanted_functions();
    request.include_dirs = toolkit_folders();
    request.system_dirs = {libc_dir_};
    request.list_files = trusted_.asks() || options_.watch;
    if (request.headers.empty() && request.text.empty()) return {};
    Result<std::string> json = compiler->types(request);
    if (!json) return json.error();
    steps_.done("C types (libclang)");
    if (auto done = admit_headers(*json); !done) return done;
    Result<rules::TypeTable> table = rules::read_types(*json, rules, diagnostics);
    if (!table) return table.error();
    types = std::move(*table);
    steps_.done("read types");
    return {};
}

void Frontend::resolve(std::vector<process::ProcessView> views) {
    host = std::make_unique<host::LiveHost>(std::move(views));
    const bool reads_task = task_words_.names_task || templates_read_;
    if (reads_task && structures && structures->headers.kind == kernel::HeaderKind::btf) {
        types.set_task(host->kernel_task(task_words_.members, types));
        steps_.done("the kernel's structures");
    }
    probes_ = expects
                  ? target::resolve_expecting(rules, types, *host, diagnostics, libraries, left_out)
                  : target::resolve(rules, types, *host, diagnostics);
    steps_.done("resolve");
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

plan::Arch Frontend::arch() const {
    return host->architecture() == "x86_64" ? plan::Arch::x86_64 : plan::Arch::arm64;
}

void Frontend::make_plan() {
    plan = plan::make_plan(std::move(probes_), rules, types, arch(), diagnostics);
    steps_.done("plan");
}

Result<void> Frontend::up_to_plan(std::vector<process::ProcessView> views) {
    if (!compiler) {
        if (auto done = start_compiler(); !done) return done;
    }
    if (auto done = read_rules(); !done) return done;
    if (diagnostics.has_errors()) return {};
    if (auto done = read_types(); !done) return done;
    if (auto done = choose_structures(); !done) return done;
    resolve(std::move(views));
    make_plan();
    return {};
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

// The bundled ones, and in their place or besides them those of --templates.
Result<void> Frontend::read_templates() {
    Result<std::vector<std::string>> folders = paths_.template_folders();
    if (!folders) return folders.error();
    for (const std::string& folder : *folders) {
        if (auto read = read_templates_of(folder, ""); !read) return read;
        if (fs::is_directory(folder + "/probes")) {
            if (auto read = read_templates_of(folder + "/probes", "probes/"); !read) return read;
        }
        if (auto done = trusted_.admit_tree(folder + "/include"); !done) return done;
        if (fs::is_directory(folder + "/include/kernel")) kernel_dir = folder + "/include/kernel";
        if (auto header = existing(folder + "/include/task.h")) task_header_ = *header;
        if (fs::is_directory(folder + "/include/libc")) libc_dir_ = folder + "/include/libc";
    }
    for (const auto& [name, text] : templates_) {
        if (text.find("//= probe ") == std::string::npos) continue;
        Result<rules::ProbeDefinition> definition = codegen::read_definition(name, text);
        if (!definition) return definition.error();
        rules.definitions.push_back(std::move(*definition));
    }
    return {};
}

Result<void> Frontend::read_templates_of(const std::string& folder, const std::string& prefix) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        if (!entry.is_regular_file(code) || entry.path().extension() == ".md") continue;
        reads(entry.path().string());
        Result<std::string> text = trusted_.read(entry.path().string(), kMaxTemplate);
        if (!text) return text.error();
        const std::string name = prefix + entry.path().filename().string();
        templates_[name] = std::move(*text);
        template_paths_[name] = entry.path().string();
    }
    if (!code) return {};
    errno = code.value();
    return system_error("cannot read the folder " + folder);
}

std::string Frontend::template_path(const std::string& name) const {
    auto found = template_paths_.find(name);
    return found == template_paths_.end() ? name : found->second;
}

bool Frontend::is_users_template(const std::string& name) const {
    if (options_.templates.empty()) return false;
    std::error_code code;
    const fs::path folder = fs::weakly_canonical(options_.templates, code) / "";
    return template_path(name).starts_with(folder.string());
}

Result<codegen::Program> Frontend::generate(codegen::Options options) {
    options.templates = &templates_;
    for (const char* member : codegen::kFileMembers) {
        if (!plan.asks_for_files) break;
        Result<uint32_t> offset = host->kernel_offset(member);
        if (!offset) return Error{"names of open files: " + offset.error().message()};
        options.file_offsets.push_back(*offset);
    }
    Result<codegen::Program> program = codegen::generate(plan, options);
    steps_.done("generate");
    return program;
}

}  // namespace mlbcc::load
