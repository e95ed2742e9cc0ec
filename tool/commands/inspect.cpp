#include "commands/commands.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "commands/emit.h"
#include "commands/list.h"
#include "files/install_paths.h"
#include "files/paths.h"
#include "load/frontend.h"
#include "load/loader.h"
#include "load/rehearsal.h"
#include "session/explain.h"
#include "session/keep.h"
#include "session/views.h"
#include "sink/format.h"
#include "text/glob.h"
#include "text/output.h"
#include "text/tell.h"

namespace mlbcc::commands {
namespace {

// The rules, types and plan of `options`; a status to exit with where that fails.
int prepare(load::Frontend& frontend, Verbosity verbosity) {
    if (auto done = frontend.up_to_plan({session::own_view()}); !done) return tell(done.error());
    return tell(frontend.diagnostics, verbosity, true) ? kExitUsage : 0;
}

// Into the kernel that runs here, and out of it again.
int try_to_load(const session::TraceOptions& options, load::Frontend& frontend,
                load::Loader& loader) {
    const auto begin = std::chrono::steady_clock::now();
    if (auto done = load::rehearse(options.loading(), frontend, loader); !done)
        return tell(done.error());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    print_output("{} of {}: compiled and loaded in {:.0f} ms\n",
                 sink::plural(loader.programs(), "program"),
                 sink::plural(loader.instructions(), "instruction"), took.count());
    return 0;
}

std::string prototype(const rules::Signature& signature, const rules::TypeTable& types) {
    std::string out = types[signature.ret].spelling + " " + signature.name + "(";
    for (size_t i = 0; i < signature.params.size(); ++i) {
        if (i > 0) out += ", ";
        out += types[signature.params[i].type].spelling;
        if (!out.ends_with('*')) out += " ";
        out += signature.params[i].name;
    }
    return out + (signature.variadic ? ", ...)" : ")");
}

void print_function(const load::Frontend& frontend, const plan::ProbePlan& probe) {
    print_output("{}", session::full_name(probe));
    if (const auto* function = std::get_if<target::UserFunction>(&probe.probe->at)) {
        for (const std::string& alias : function->aliases) print_output(" = {}", alias);
    }
    const auto* usdt = std::get_if<target::Usdt>(&probe.probe->at);
    if (usdt != nullptr && usdt->places > 1) {
        print_output(" (place {} of {})", usdt->place + 1, usdt->places);
    }
    if (probe.signature != nullptr) {
        print_output("  {}", prototype(*probe.signature, frontend.types));
    } else {
        print_output("  (no prototype)");
    }
    std::set<std::string> places;
    for (const plan::RulePart& part : probe.parts) {
        places.insert(frontend.plan.rules[static_cast<uint32_t>(part.rule)].place);
    }
    print_output("  [{}]\n", fmt::join(places, ", "));
}

bool selected(const plan::ProbePlan& probe, const std::string& pattern) {
    return pattern.empty() || glob_match(pattern, probe.symbol) ||
           glob_match(pattern, probe.function) ||
           glob_match("*:" + pattern, session::full_name(probe));
}

// "what a job asks of the CUDA driver": the first paragraph of comments, behind the file's name.
std::string purpose_of(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    for (std::string line; std::getline(file, line) && line.starts_with("# ");)
        text += (text.empty() ? "" : " ") + line.substr(2);
    const size_t dash = text.find(" - ");
    return dash == std::string::npos ? text : text.substr(dash + 3);
}

}  // namespace

int run_rules(const load::RuleOptions& options) {
    const files::InstallPaths paths(files::InstallHints::current(
        options.templates.empty() ? std::nullopt : std::make_optional(options.templates)));
    std::map<std::string, std::string> files;  // by name: what counts of several is the first
    const std::vector<std::string> folders = paths.rules_folders();
    for (const std::string& folder : folders) {
        for (const std::string& file : files::expand_glob("", folder + "/*.rules"))
            files.emplace(std::filesystem::path(file).stem().string(), file);
    }
    if (files.empty()) return tell(Error{"there are no bundled rules", 0, "install mlbcc again"});
    for (const auto& [name, file] : files) print_output("{:<18} {}\n", name, purpose_of(file));
    print_error("{} files in {}\n", files.size(), fmt::join(folders, ", "));
    return 0;
}

int run_check(const session::TraceOptions& options, bool compile) {
    load::Steps steps(options.verbosity == Verbosity::verbose);
    load::Frontend frontend(options.rules, steps);
    load::Loader loader(frontend, steps);
    session::Keeping keeping(options, frontend, loader);
    if (int status = keeping.begin(); status != 0) return status;
    if (int status = prepare(frontend, options.verbosity); status != 0) return status;
    size_t rules = rules::written_rules(frontend.rules);
    print_output("{}, {}, {}: no mistakes found\n", sink::plural(rules, "rule"),
                 sink::plural(frontend.plan.probes.size(), "function"),
                 sink::plural(frontend.plan.shapes.size(), "program"));
    return compile ? try_to_load(options, frontend, loader) : 0;
}

int run_list(const load::RuleOptions& options, Verbosity verbosity, const std::string& pattern) {
    if (pattern.find(':') != std::string::npos && options.rules.empty()) {
        return list_pattern(pattern);
    }
    load::Steps steps(verbosity == Verbosity::verbose);
    load::Frontend frontend(options, steps);
    if (int status = prepare(frontend, verbosity); status != 0) return status;
    std::string names = pattern.substr(pattern.rfind(':') + 1);
    size_t shown = 0;
    for (const plan::ProbePlan& probe : frontend.plan.probes) {
        if (!selected(probe, names)) continue;
        print_function(frontend, probe);
        ++shown;
    }
    print_error("{} of {}\n", shown, sink::plural(frontend.plan.probes.size(), "function"));
    return shown > 0 ? 0 : kExitFailure;
}

int run_explain(const load::RuleOptions& options, Verbosity verbosity, const std::string& pattern) {
    load::Steps steps(verbosity == Verbosity::verbose);
    load::Frontend frontend(options, steps);
    if (int status = prepare(frontend, verbosity); status != 0) return status;
    if (auto done = frontend.choose_entries(); !done) return tell(done.error());
    std::string names = pattern.substr(pattern.rfind(':') + 1);
    for (const plan::ProbePlan& probe : frontend.plan.probes) {
        if (selected(probe, names)) print_output("{}", session::explain(frontend, probe));
    }
    print_output("{}", session::explain_plan(frontend));
    return 0;
}

int run_emit(const session::TraceOptions& options, const EmitOptions& emit) {
    load::Steps steps(options.verbosity == Verbosity::verbose);
    load::Frontend frontend(options.rules, steps);
    load::Loader loader(frontend, steps);
    session::Keeping keeping(options, frontend, loader);
    if (int status = keeping.begin(); status != 0) return status;
    if (int status = prepare(frontend, options.verbosity); status != 0) return status;
    if (!options.output.keep.empty()) {  // explain's text has them
        if (auto done = frontend.choose_entries(); !done) return tell(done.error());
    }
    if (auto done = loader.generate(options.loading()); !done) return tell(done.error());
    if (!emit.assembly) {
        const codegen::Program& program = loader.program();
        print_output("{}", emit.annotate ? codegen::annotated(program, codegen::Annotated::own)
                                         : program.source);
        return 0;
    }
    Result<std::vector<bpf::CompiledProgram>> programs = loader.list();
    if (!programs) return tell(programs.error());
    print_output("{}", assembly(frontend, loader.program(), *programs));
    return 0;
}

}  // namespace mlbcc::commands
