#include "load/loader.h"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "base/threads.h"
#include "files/mounts.h"
#include "load/attach_points.h"
#include "load/features.h"
#include "process/proc.h"
#include "text/output.h"

namespace mlbcc::load {
namespace {

using codegen::AttachMode;
using codegen::ProgramKind;
using codegen::Side;

constexpr uint32_t kSessionCookieCall = 0x7fff0001;  // as the C text calls them
constexpr uint32_t kSessionIsReturnCall = 0x7fff0002;

const char* mode_name(AttachMode mode) {
    switch (mode) {
    case AttachMode::session: return "uprobe session";
    case AttachMode::multi: return "uprobe_multi";
    case AttachMode::perf: return "perf events";
    }
    return "";
}

const char* mode_name(Side side, AttachMode mode) {
    if (side != Side::kernel) return mode_name(mode);
    switch (mode) {
    case AttachMode::session: return "kprobe session";
    case AttachMode::multi: return "kprobe_multi";
    case AttachMode::perf: return "perf events";
    }
    return "";
}

bool has_functions(const plan::Plan& plan, Side side) {
    return std::ranges::any_of(plan.probes, [&](const plan::ProbePlan& probe) {
        return plan::is_function(probe.kind) && codegen::side_of(probe) == side;
    });
}

// Whether the rules can do without it.
bool is_optional(const plan::ProbePlan* probe) {
    return std::ranges::all_of(probe->probe->uses,
                               [](const target::RuleUse& use) { return use.rule->optional; });
}

constexpr size_t kLoaders = 2;  // threads, besides the one that waits
// Libraries that come later are seldom more than a few, of some hundred functions each.
constexpr uint32_t kSpareProbes = 8192;

// The best that this kernel can do, or what was asked for.
Result<AttachMode> choose_mode(Side side, std::optional<AttachMode> wanted, bool is_used,
                               const bpf::Features& features) {
    bool user = side == Side::user;
    bool session = user ? features.session : features.kernel_session;
    bool multi = user ? features.multi : features.kernel_multi;
    AttachMode best = session ? AttachMode::session : multi ? AttachMode::multi : AttachMode::perf;
    if (!wanted) return best;
    bool possible = *wanted == AttachMode::perf || (*wanted == AttachMode::multi && multi) ||
                    (*wanted == AttachMode::session && session);
    if (possible) return *wanted;
    if (!is_used) return best;
    return Error{fmt::format("this kernel has no {} links", mode_name(side, *wanted)), 0,
                 fmt::format("leave --attach out: {} would be taken", mode_name(side, best))};
}

// Set where the tracer's process ids are not the kernel's own.
Result<std::optional<codegen::NamespaceId>> own_namespace() {
    Result<process::PidNamespace> own = process::own_pid_namespace();
    if (!own) return own.error();
    if (own->is_initial) return std::optional<codegen::NamespaceId>{};
    return std::make_optional(codegen::NamespaceId{own->device, own->inode});
}

Result<std::vector<uint32_t>> file_offsets(target::Host& host) {
    std::vector<uint32_t> offsets;
    for (const char* member : codegen::kFileMembers) {
        Result<uint32_t> offset = host.kernel_offset(member);
        if (!offset) return Error{"names of open files: " + offset.error().message()};
        offsets.push_back(*offset);
    }
    return offsets;
}

}  // namespace

Result<codegen::Options> generation_options(const LoadOptions& options, const plan::Plan& plan,
                                            const bpf::Features& features) {
    bool kernel = has_functions(plan, Side::kernel);
    bool user = !kernel || has_functions(plan, Side::user) || has_functions(plan, Side::moving);
    Result<AttachMode> mode = choose_mode(Side::user, options.attach, user, features);
    if (!mode) return mode.error();
    auto kernel_mode = choose_mode(Side::kernel, options.attach, kernel, features);
    if (!kernel_mode) return kernel_mode.error();
    auto own = own_namespace();
    if (!own) return own.error();
    codegen::Options made;
    made.mode = *mode;
    made.kernel_mode = *kernel_mode;
    made.everyone = options.everyone;
    made.namespace_ = *own;
    made.task_pid_offset = features.task_pid_offset;
    // In a container there may be no tracefs, and no right to mount it.
    made.points_by_perf = features.preempts_points && files::ensure_tracefs().ok();
    made.task_stack_offset = features.task_stack_offset;
    made.task_fsbase_offset = features.task_fsbase_offset;
    made.task_seccomp_offset = features.task_seccomp_offset;
    made.task_pending_offset = features.task_pending_offset;
    made.task_status_offset = features.task_status_offset;
    made.prepares_exec = features.prepares_exec;
    made.task_start_offset = features.task_start_offset;
    made.task_uprobes_offset = features.task_uprobes_offset;
    made.return_instances_offset = features.return_instances_offset;
    made.awaited_offset = features.awaited_offset;
    made.return_instance = features.return_instance;
    made.stack_ends = features.stack_ends;
    if (features.sets_registers) made.return_places = features.return_places;
    made.wake_bytes = options.buffer_bytes / 4;
    made.cpus = features.cpus;
    return made;
}

void Loader::begin_to_find_features() {
    coming_features_ = on_a_thread(load::find_features);
}

void Loader::find_features() {
    if (features_) return;
    features_ = coming_features_.valid() ? coming_features_.get() : load::find_features();
    steps_.done("kernel features");
}

Result<void> Loader::generate(const LoadOptions& options) {
    find_features();
    Result<codegen::Options> generation = generation_options(options, frontend_.plan, *features_);
    if (!generation) return generation.error();
    if (frontend_.grows() || frontend_.plan.traces_addresses())
        generation->spare_probes = kSpareProbes;
    generation->templates = &frontend_.templates.texts;
    generation->definition_texts = &frontend_.structures.texts;
    if (frontend_.plan.asks_for_files) {
        auto offsets = file_offsets(*frontend_.host);
        if (!offsets) return offsets.error();
        generation->file_offsets = std::move(*offsets);
    }
    Result<codegen::Program> program = codegen::generate(frontend_.plan, *generation);
    steps_.done("generate");
    if (!program) return program.error();
    loaded_.mode = generation->mode;
    loaded_.kernel_mode = generation->kernel_mode;
    loaded_.points_by_perf = generation->points_by_perf;
    loaded_.steps_returns = frontend_.plan.arch == plan::Arch::x86_64 && !generation->return_places;
    loaded_.program = std::move(*program);
    return {};
}

Result<void> Loader::start(const LoadOptions& options, const bpf::Map& rings,
                           const bpf::Map* threads) {
    if (auto done = generate(options); !done) return done;
    if (auto made = make_dispatchers(); !made) return made.error();
    if (!features_->task_pid_offset) {
        // libbcc reads tracepoints' formats there
        Result<std::string> tracefs = files::ensure_tracefs();
        if (!tracefs) return tracefs.error();
    }
    request_ = request();
    use_tables(rings, threads);
    request_->maps = tables_;
    if (begin_to_load()) return {};
    return frontend_.compiler->send_compile(*request_);
}

void Loader::use_tables(const bpf::Map& rings, const bpf::Map* threads) {
    tables_.emplace(codegen::maps::kRings, rings.fd());
    if (threads != nullptr) tables_.emplace(codegen::maps::kSwitched, threads->fd());
}

void Loader::foresee(const bpf::Map& rings, const bpf::Map& threads) {
    use_tables(rings, &threads);
    if (auto bundle = frontend_.compiler->expected())
        before_ = std::make_unique<ProgramLoad>(std::move(*bundle), own_tables(), 1);
}

std::map<std::string, UniqueFd> Loader::own_tables() const {
    std::map<std::string, UniqueFd> own;
    for (const auto& [name, fd] : tables_) own[name].reset(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    return own;
}

// Whether it was compiled before.
bool Loader::begin_to_load() {
    if (frontend_.compiler->is_expected(*request_) && before_) {
        steps_.tell("the programs are those of the last such start");
        return true;
    }
    before_.reset();
    if (auto bundle = frontend_.compiler->compiled_before())
        before_ = std::make_unique<ProgramLoad>(std::move(*bundle), own_tables(), kLoaders);
    return before_ != nullptr;
}

Result<bpf::CompileResult> Loader::compiled() {
    if (before_) {
        if (auto loaded = std::exchange(before_, nullptr)->take()) {
            steps_.tell("compiled before");
            frontend_.remember_start();
            return bpf::CompileResult(std::move(*loaded));
        }
        // Whoever compiles it knows why, or makes a better one.
        steps_.tell("what was compiled before does not load: compiled anew");
        if (auto sent = frontend_.compiler->send_compile(*request_); !sent) return sent.error();
    }
    Result<bpf::CompileResult> result = frontend_.compiler->receive_compile();
    if (result && std::holds_alternative<bpf::Compiled>(*result)) frontend_.remember_start();
    return result;
}

Result<void> Loader::make_dispatchers() {
    for (Side side : codegen::kSides) {
        if (!loaded_.is_dispatched(side)) continue;
        if (side == Side::moving && !has_functions(frontend_.plan, side)) continue;
        Result<bpf::Dispatcher> made = bpf::Dispatcher::make(
            side, loaded_.mode_of(side), *features_, frontend_.plan.shapes.size());
        if (!made) return made.error();
        loaded_.dispatchers[side] = std::move(*made);
    }
    return {};
}

bpf::CompileRequest Loader::request() const {
    bpf::CompileRequest request;
    request.source = loaded_.program.source;
    request.file = "mlbcc.bpf.c";
    request.kernel_dir = frontend_.structures.kernel_dir;
    request.commons = loaded_.program.commons;
    // libbcc optimises what clang hands it: clang need not do so first. No debug information:
    // nobody reads it while programs load, and without both the time is six tenths.
    request.cflags = {"-g0", "-Xclang", "-disable-llvm-passes"};
    request.cflags.insert(request.cflags.end(), frontend_.structures.flags.begin(),
                          frontend_.structures.flags.end());
    for (const codegen::Function& function : loaded_.program.functions) {
        bpf::ProgramRequest one;
        one.name = function.name;
        if (function.kind == ProgramKind::tracepoint ||
            (function.kind == ProgramKind::syscall && loaded_.points_by_perf)) {
            one.type = bpf::ProgramType::tracepoint;
        } else if (function.kind == ProgramKind::raw_tracepoint ||
                   function.kind == ProgramKind::syscall) {
            one.type = bpf::ProgramType::raw_tracepoint;
        } else if (function.kind == ProgramKind::usdt &&
                   loaded_.mode_of(Side::user) != AttachMode::perf) {
            one.attach_type = bpf::expected_attach_type(Side::user, AttachMode::multi);
        } else if (function.kind == ProgramKind::python) {
            if (features_->multi)
                one.attach_type = bpf::expected_attach_type(Side::user, AttachMode::multi);
        } else if (Side side = codegen::side_of(function.kind);
                   loaded_.mode_of(side) != AttachMode::perf) {
            one.attach_type = bpf::expected_attach_type(side, loaded_.mode_of(side));
        }
        request.programs.push_back(std::move(one));
    }
    bool kernel = has_functions(frontend_.plan, Side::kernel);
    if (loaded_.mode == AttachMode::session ||
        (kernel && loaded_.kernel_mode == AttachMode::session)) {
        request.kfuncs = {{kSessionCookieCall, features_->session_cookie},
                          {kSessionIsReturnCall, features_->session_is_return}};
    }
    return request;
}

Result<void> Loader::receive() {
    if (received_) return {};
    Result<bpf::CompileResult> result = compiled();
    if (!result) return result.error();
    if (auto* failed = std::get_if<bpf::CompileError>(&*result)) return refuse(std::move(*failed));
    auto* compiled = std::get_if<bpf::Compiled>(&*result);
    if (compiled->compile_ms > 0) {
        steps_.tell(fmt::format("clang {:.1f} ms, verifier {:.1f} ms, {} bytes of C",
                                compiled->compile_ms, compiled->load_ms,
                                loaded_.program.source.size()));
    }
    steps_.done("compile and load");
    for (bpf::CompiledMap& map : compiled->maps) {
        loaded_.kernel.maps.emplace(map.name,
                                    bpf::Map(std::move(map.fd), map.key_size, map.value_size));
    }
    warnings_ = std::move(compiled->warnings);
    for (bpf::CompiledProgram& one : compiled->programs) {
        instructions_ += one.instructions;
        loaded_.kernel.programs.emplace(one.name, std::move(one.fd));
    }
    received_ = true;
    return {};
}

// Nothing of it is loaded, so nobody's rights are asked for.
Result<std::vector<bpf::CompiledProgram>> Loader::list() {
    request_ = request();
    request_->emit_only = true;
    if (auto sent = frontend_.compiler->send_compile(with_lines(*request_, loaded_.program)); !sent)
        return sent.error();
    Result<bpf::CompileResult> result = frontend_.compiler->receive_compile();
    if (!result) return result.error();
    if (auto* failed = std::get_if<bpf::CompileError>(&*result)) return refuse(std::move(*failed));
    return std::move(std::get<bpf::Compiled>(*result).programs);
}

Result<Loaded> Loader::finish() {
    if (auto done = receive(); !done) return done.error();
    if (auto done = loaded_.tell_rules(frontend_.plan, 0); !done) return done.error();
    for (Side side : codegen::kSides) {
        if (loaded_.is_dispatched(side)) continue;
        if (auto done = attach_functions(side); !done) return done.error();
    }
    if (auto done = attach_points(frontend_.plan, loaded_); !done) return done.error();
    for (bpf::Dispatcher& one : loaded_.dispatchers) {
        if (auto done = one.connect(loaded_.kernel, loaded_.program); !done) return done.error();
    }
    steps_.done("connect");
    return std::move(loaded_);
}

Error Loader::refuse(bpf::CompileError failed) {
    refused_ = explain_refusal(frontend_, *request_, loaded_.program, std::move(failed));
    print_error("{}{}", refused_->told, refused_->told.empty() ? "" : "\n");
    return refused_->summary;
}

Result<void> Loader::attach() {
    for (Side side : codegen::kSides) {
        if (!loaded_.is_dispatched(side)) continue;  // needs the programs
        if (auto done = attach_functions(side); !done) return done;
    }
    return {};
}

Result<void> Loader::attach_functions(Side side) {
    if (!has_functions(frontend_.plan, side)) return {};
    return side == Side::kernel ? attach_kernel_functions() : attach_user_functions(side);
}

Result<void> Loader::attach_kernel_functions() {
    std::vector<const plan::ProbePlan*> probes;
    for (const plan::ProbePlan& probe : frontend_.plan.probes) {
        if (probe.kind == plan::ProbeKind::kernel) probes.push_back(&probe);
    }
    Result<bpf::Attachment> made =
        loaded_.kernel_mode == AttachMode::perf
            ? bpf::Attachment::kernel_functions_by_perf(probes, loaded_.kernel, loaded_.program)
            : bpf::Attachment::kernel_functions(probes, loaded_.programs(Side::kernel),
                                                loaded_.kernel_mode);
    if (!made) {
        if (!std::ranges::all_of(probes, is_optional)) return made.error();
        const int code = made.error().code != 0 ? made.error().code : ENOTSUP;
        for (const plan::ProbePlan* one : probes) loaded_.refused.push_back({one->id, code});
        return {};
    }
    size_t attached = probes.size() - made->refused.size();
    loaded_.probes += attached;
    loaded_.refused.insert(loaded_.refused.end(), made->refused.begin(), made->refused.end());
    steps_.tell(fmt::format("{} functions of the kernel by {}, {} links", attached,
                            mode_name(Side::kernel, loaded_.kernel_mode), made->links()));
    loaded_.attachments.push_back(std::move(*made));
    steps_.done("attach to the kernel");
    return {};
}

Result<void> Loader::attach_user_functions(Side side) {
    Result<Attached> done = loaded_.attach_side(frontend_, side);
    if (!done) return done.error();
    steps_.tell(fmt::format("{} functions by {}, {} links, {} shapes", done->functions,
                            mode_name(side, loaded_.mode_of(side)), done->links,
                            frontend_.plan.shapes.size()));
    steps_.done("attach");
    return {};
}

}  // namespace mlbcc::load
