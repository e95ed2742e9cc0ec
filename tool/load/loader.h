// A plan becomes running probes: how to attach is chosen by trying, the C is generated and compiled
// by the helper, the programs are attached. Nothing is recorded until the filter is armed
// (follow.h).
#pragma once

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bpf/kernel.h"
#include "codegen/codegen.h"
#include "load/failures.h"
#include "load/frontend.h"
#include "load/options.h"
#include "load/program_load.h"

namespace mlbcc::load {

struct Attached {
    size_t functions = 0, links = 0;
};

struct Loaded {
    codegen::AttachMode mode{}, kernel_mode{};
    bool points_by_perf = false;  // codegen::Options
    codegen::Program program;
    codegen::BySide<bpf::Dispatcher> dispatchers;
    bpf::LoadedProgram kernel;
    std::vector<bpf::Attachment> attachments;
    std::vector<bpf::Attachment> learning;  // of probes that are in place `until_known`
    size_t probes = 0;                      // functions that are attached
    std::vector<bpf::Refusal> refused;
    // What the kernel single-steps: probes by their entry, and whether every `ret` of Side::moving.
    std::set<plan::ProbeId> stepped_entries;
    bool steps_returns = false;
    std::vector<plan::ProbeId> leaving;  // whose calls end where they jump to other functions

    // Hits of probes, by any process, for which the kernel ran no program.
    uint64_t missed() const;
    codegen::AttachMode mode_of(codegen::Side side) const;
    // Whether calls reach their shapes through the dispatcher.
    bool is_dispatched(codegen::Side side) const;
    // Of the plan's probes from index `first` on: which rules their records are for, ...
    Result<void> tell_rules(const plan::Plan& plan, size_t first);
    // ... and their places. The programs must know the former when they run.
    Result<Attached> attach_functions(const Frontend& frontend, size_t first);
    Result<Attached> attach_side(const Frontend& frontend, codegen::Side side);  // from 0 on
    // Of probes that are in place `until_known`, which the others do not attach.
    Result<Attached> attach_until_known(const Frontend& frontend);
    // Likewise, of functions that others may jump to, whose calls those are.
    Result<Attached> attach_but_for_jumps(const Frontend& frontend, size_t first);

    bpf::Programs programs(codegen::Side side) const;

private:
    // By file and side: where the probes are, from index `first` on.
    using Sites = std::map<std::pair<std::string, codegen::Side>, std::vector<bpf::Site>>;
    Result<Attached> attach_files(const Sites& all, const bpf::Programs* of_user = nullptr);
    Sites sites_of(const Frontend& frontend, size_t first, bool until_known,
                   std::optional<codegen::Side> side = std::nullopt);
    Result<void> attach_file(const std::string& path, codegen::Side side,
                             std::span<const bpf::Site> sites, const bpf::Programs& programs,
                             std::vector<bpf::Attachment>& made, Attached& done);
};

// How to generate for this machine: by the best ways to attach that it has, or the one asked for.
Result<codegen::Options> generation_options(const LoadOptions& options, const plan::Plan& plan,
                                            const bpf::Features& features);

class Loader {
public:
    Loader(Frontend& frontend, Steps& steps) : frontend_(frontend), steps_(steps) {}
    // On a thread of their own. Optional: start() does so itself if need be.
    void begin_to_find_features();
    // Loads meanwhile what a start like this one needed before, so that start() finds it there.
    void foresee(const bpf::Map& rings, const bpf::Map& threads);
    // The C, as start() does it itself ...
    Result<void> generate(const LoadOptions& options);
    // ... and its instructions as text, with their lines in codegen::numbered() of it.
    Result<std::vector<bpf::CompiledProgram>> list();
    // Generates the C and hands it to the compiler, which works meanwhile ... `threads` is what
    // programs of several loads share (bpf::make_thread_table()).
    Result<void> start(const LoadOptions& options, const bpf::Map& rings,
                       const bpf::Map* threads = nullptr);
    // Puts the probes into place. They pass calls over until finish().
    Result<void> attach();
    // Waits for the compiler: the programs are in the kernel then. What it says of the generated C
    // goes to standard error. finish() does so itself.
    Result<void> receive();
    // Waits for the compiler and connects its programs to the probes.
    Result<Loaded> finish();

    // What there is until now of what was done.
    const std::optional<bpf::Features>& features() const { return features_; }
    const codegen::Program& program() const { return loaded_.program; }  // until finish()
    codegen::AttachMode mode() const { return loaded_.mode; }            // likewise
    const std::string& warnings() const { return warnings_; }            // clang's
    const std::optional<Refused>& refused() const { return refused_; }
    size_t programs() const { return loaded_.kernel.programs.size(); }  // that are loaded
    size_t instructions() const { return instructions_; }               // of all of them

private:
    void find_features();
    bpf::CompileRequest request() const;
    void use_tables(const bpf::Map& rings, const bpf::Map* threads);
    std::map<std::string, UniqueFd> own_tables() const;
    bool begin_to_load();
    Result<bpf::CompileResult> compiled();
    Result<void> make_dispatchers();
    Result<void> attach_functions(codegen::Side side);
    Result<void> attach_user_functions(codegen::Side side);
    Result<void> attach_kernel_functions();
    Error refuse(bpf::CompileError failed);

    Frontend& frontend_;
    Steps& steps_;
    std::optional<bpf::Features> features_;
    std::future<bpf::Features> coming_features_;
    std::map<std::string, int> tables_;  // maps that other programs have, too
    std::optional<bpf::CompileRequest> request_;
    std::unique_ptr<ProgramLoad> before_;  // what was compiled before
    Loaded loaded_;
    bool received_ = false;
    std::string warnings_;
    std::optional<Refused> refused_;
    size_t instructions_ = 0;
};

}  // namespace mlbcc::load
