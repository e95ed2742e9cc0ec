// The pipeline's first half, as far as each subcommand needs it: rule files -> rules with C types
// -> probes -> plan. Nothing of the kernel is touched.
//
// Each step makes a value of its own from those before it, in the order of the members:
//
//   templates, rules, type_headers, types, structures  ->  up_to_plan() resolves and plans
//   plan                                                ->  choose_entries(), add_late()
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bpf/remembering_compiler.h"
#include "files/install_paths.h"
#include "files/sources.h"
#include "host/live_host.h"
#include "load/options.h"
#include "load/probe_places.h"
#include "load/rule_types.h"
#include "load/steps.h"
#include "load/structures.h"
#include "load/template_set.h"
#include "plan/plan.h"
#include "rules/rules.h"
#include "rules/types.h"
#include "text/diagnostic.h"

namespace mlbcc::load {

struct FrontendUse {
    std::string run_by;    // options, in any words, by which what is compiled may differ
    bool expects = false;  // libraries may come later
};

class Frontend {
public:
    Frontend(const RuleOptions& options, Steps& steps, FrontendUse use = {});

    // Optional: up_to_plan() does so itself if need be.
    Result<void> start_compiler();
    void remember_start();  // all that it took is kept
    // All up to the plan, stopping at the first mistake. Errors are failures of the machine or the
    // tool; mistakes of the user are in `diagnostics`, and what is made then is of no use.
    Result<void> up_to_plan(std::vector<process::ProcessView> views);
    Result<void> choose_entries();
    // What the file that `late` finds has is added to the plan; `name` is its own.
    Result<plan::Growth> add_late(target::Host& late, const std::string& name, Diagnostics& found);

    bool grows() const;  // whether a library that the rules name may still come
    // Whether this one may in a folder that nobody names.
    bool grows_anywhere(const target::SoughtLibrary& library) const;
    std::chrono::nanoseconds open_wait() const { return options_.open_wait; }
    // Where it would be.
    std::vector<host::WatchedPlace> places(const target::LibraryName& name) const;
    bool is_users_template(const std::string& name) const;            // of --templates
    const target::UserFunction& function(plan::ProbeId probe) const;  // of a function's probe

    Diagnostics diagnostics;
    std::optional<bpf::RememberingCompiler> compiler;
    std::unique_ptr<host::LiveHost> host;  // these two from the beginning of up_to_plan() on
    files::Sources sources;                // rules, headers, templates
    TemplateSet templates;
    rules::RuleSet rules;
    std::vector<std::string> type_headers;  // as found
    rules::TypeTable types;
    Structures structures;
    std::vector<target::SoughtLibrary> libraries;  // that the rules name, where they may come
    std::vector<target::LeftOut> left_out;         // by lists, of all libraries until now
    plan::Plan plan;
    std::vector<EntryPlace> entries;  // by ProbeId
    std::vector<std::string> rule_names;

private:
    std::string known_by() const;
    Result<void> read_rules();
    Result<void> read_types();
    std::vector<target::Probe> resolve();
    Result<void> choose_entries(size_t first, target::Host& from);

    const RuleOptions& options_;
    Steps& steps_;
    FrontendUse use_;
    files::InstallPaths paths_;
};

}  // namespace mlbcc::load
