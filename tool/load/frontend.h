// The pipeline's first half, as far as each subcommand needs it: rule files -> rules with C types
// -> probes -> plan -> BPF C. Nothing of the kernel is touched.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bpf/remembering_compiler.h"
#include "codegen/codegen.h"
#include "files/install_paths.h"
#include "files/trusted_files.h"
#include "host/live_host.h"
#include "kernel/kernel_headers.h"
#include "load/options.h"
#include "load/probe_places.h"
#include "load/steps.h"
#include "plan/plan.h"
#include "rules/ctypes.h"
#include "rules/rules.h"
#include "rules/types.h"
#include "text/diagnostic.h"

namespace mlbcc::load {

class Frontend {
public:
    Frontend(const RuleOptions& options, Steps& steps);

    // In this order; each needs those before it. Errors are failures of the machine or the tool;
    // mistakes of the user are in `diagnostics`, and later steps are of no use then.
    Result<void> start_compiler();
    void remember_start();  // all that it took is kept
    Result<void> read_rules();
    Result<void> read_types();
    Result<void> choose_structures();
    void resolve(std::vector<process::ProcessView> views);
    void make_plan();
    Result<void> choose_entries();
    // What the file that `late` finds has is added to the plan; `name` is its own.
    Result<plan::Growth> add_late(target::Host& late, const std::string& name, Diagnostics& found);
    Result<void> read_templates();
    Result<codegen::Program> generate(codegen::Options options);

    // All up to the plan, stopping at the first mistake.
    Result<void> up_to_plan(std::vector<process::ProcessView> views);

    std::string run_by;    // options, in any words, by which what is compiled may differ
    bool expects = false;  // libraries may come later: set before resolve()
    std::vector<target::LeftOut> left_out;         // by lists, of all libraries until now
    std::vector<target::SoughtLibrary> libraries;  // that the rules name, where they may
    bool grows() const;                            // whether one may still come
    // Whether this one may in a folder that nobody names.
    bool grows_anywhere(const target::SoughtLibrary& library) const;
    std::chrono::nanoseconds open_wait() const { return options_.open_wait; }
    // Where it would be.
    std::vector<host::WatchedPlace> places(const target::LibraryName& name) const;

    Diagnostics diagnostics;
    rules::RuleSet rules;
    rules::TypeTable types;
    plan::Plan plan;
    std::vector<EntryPlace> entries;  // by ProbeId
    std::vector<std::string> rule_names;
    struct ReadFile {
        std::string path, state;  // file_state(), as it was read
    };
    std::vector<ReadFile> files;  // with `watch`: rules, headers, templates
    std::string kernel_dir;       // the header tree for libbcc
    // What says how the kernel's structures are, where a rule or a template may ask.
    std::optional<kernel::HeaderChoice> structures;
    bool reads_structures() const { return plan.asks_for_task || templates_read_; }
    const codegen::Templates& templates() const { return templates_; }
    // Where the template was read.
    std::string template_path(const std::string& name) const;
    bool is_users_template(const std::string& name) const;  // of --templates
    const std::vector<std::string>& type_headers() const { return type_headers_; }  // as found
    std::vector<std::string> kernel_flags;  // for clang, where real headers take the tree's place
    std::optional<bpf::RememberingCompiler> compiler;
    std::unique_ptr<host::LiveHost> host;

    const target::UserFunction& function(plan::ProbeId probe) const;  // of a function's probe

private:
    plan::Arch arch() const;
    void reads(const std::string& path);
    std::string known_by() const;
    Result<void> choose_entries(size_t first, target::Host& from);
    std::vector<std::string> find_headers();
    Result<void> admit_headers(const std::string& json);
    std::optional<std::string> find_header(const rules::Header& header,
                                           const std::vector<std::string>& folders) const;
    Result<rules::TypeId> task_of_headers();
    std::vector<rules::ProbeDefinition*> including_definitions();
    bool includes_kernel(std::string_view line) const;
    Result<void> give_structures(const std::vector<rules::ProbeDefinition*>& definitions);
    void use_real_headers();
    std::vector<std::string> wanted_functions() const;
    std::vector<const rules::ProbeDefinition*> wanted_definitions() const;
    std::string definitions_text() const;
    Result<void> read_templates_of(const std::string& folder, const std::string& prefix);

    const RuleOptions& options_;
    Steps& steps_;
    files::InstallPaths paths_;
    files::TrustedFiles trusted_ = files::TrustedFiles::current();
    std::vector<target::Probe> probes_;
    codegen::Templates templates_;
    std::map<std::string, std::string> template_paths_;  // by name
    std::vector<std::string> type_headers_;
    rules::TaskWords task_words_;
    bool templates_read_ = false;  // the kernel's structures
    std::optional<kernel::UnpackedHeaders> unpacked_;
    Result<void> unpack_archive();
    std::string task_header_;
    std::string libc_dir_;  // declarations of the C library, for headers of libraries
};

}  // namespace mlbcc::load
