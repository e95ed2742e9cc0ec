#include "trace/loader.h"

#include <cstdio>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "system/mounts.h"
#include "system/proc.h"

namespace mlbcc::trace {
namespace {

using codegen::AttachMode;
using codegen::ProgramKind;

constexpr uint32_t kSessionCookieCall = 0x7fff0001;  // as session.bpf.c calls them
constexpr uint32_t kSessionIsReturnCall = 0x7fff0002;

const char* mode_name(AttachMode mode) {
    switch (mode) {
    case AttachMode::session: return "uprobe session";
    case AttachMode::multi: return "uprobe_multi";
    case AttachMode::perf: return "perf events";
    }
    return "";
}

}  // namespace

Result<AttachMode> choose_mode(std::optional<AttachMode> wanted, const bpf::Features& features) {
    AttachMode best = features.session ? AttachMode::session
                      : features.multi ? AttachMode::multi
                                       : AttachMode::perf;
    if (!wanted) return best;
    bool possible = *wanted == AttachMode::perf ||
                    (*wanted == AttachMode::multi && features.multi) ||
                    (*wanted == AttachMode::session && features.session);
    if (possible) return *wanted;
    return Error{fmt::format("this kernel has no {} links", mode_name(*wanted)), 0,
                 fmt::format("leave --attach out: {} would be taken", mode_name(best))};
}

Result<std::optional<codegen::PidNamespace>> own_namespace() {
    Result<system::PidNamespace> own = system::own_pid_namespace();
    if (!own) return own.error();
    if (own->is_initial) return std::optional<codegen::PidNamespace>{};
    return std::make_optional(codegen::PidNamespace{own->device, own->inode});
}

void Loader::find_features() {
    if (features_) return;
    features_ = bpf::find_features();
    steps_.done("kernel features");
}

Result<Loaded> Loader::load(const RuleOptions& options, bool everyone) {
    find_features();
    const bpf::Features& features = *features_;
    Result<AttachMode> mode = choose_mode(options.attach, features);
    if (!mode) return mode.error();
    auto own = own_namespace();
    if (!own) return own.error();
    Result<codegen::Program> program = frontend_.generate({*mode, everyone, *own, nullptr});
    if (!program) return program.error();
    Loaded loaded;
    loaded.mode = *mode;
    loaded.program = std::move(*program);
    Result<std::string> tracefs =
        system::ensure_tracefs();  // libbcc reads tracepoints' formats there
    if (!tracefs) return tracefs.error();
    Result<bpf::LoadedProgram> kernel = compile(loaded.program, *mode, features);
    if (!kernel) return kernel.error();
    loaded.kernel = std::move(*kernel);
    if (auto done = bpf::connect_shapes(loaded.kernel, loaded.program); !done) return done.error();
    return loaded;
}

Result<bpf::LoadedProgram> Loader::compile(const codegen::Program& program, AttachMode mode,
                                           const bpf::Features& features) {
    bpf::CompileRequest request;
    request.source = program.source;
    request.file = "mlbcc.bpf.c";
    request.kernel_dir = frontend_.kernel_dir;
    // libbcc optimises what clang hands it: clang need not do so first. No debug information:
    // nobody reads it while programs load, and without both the time is six tenths.
    request.cflags = {"-g0", "-Xclang", "-disable-llvm-passes"};
    for (const codegen::Function& function : program.functions) {
        bool follow = function.kind == ProgramKind::follow;
        bpf::ProgramRequest one;
        one.name = function.name;
        one.type = follow ? bpf::ProgramType::tracepoint : bpf::ProgramType::kprobe;
        if (!follow && mode != AttachMode::perf) one.attach_type = bpf::expected_attach_type(mode);
        request.programs.push_back(std::move(one));
    }
    if (mode == AttachMode::session) {
        request.kfuncs = {{kSessionCookieCall, features.session_cookie},
                          {kSessionIsReturnCall, features.session_is_return}};
    }
    Result<bpf::CompileResult> result = frontend_.compiler->compile(request);
    if (!result) return result.error();
    if (const auto* failed = std::get_if<bpf::CompileError>(&*result))
        return refused(*failed, program);
    auto* compiled = std::get_if<bpf::Compiled>(&*result);
    steps_.tell(fmt::format("clang {:.1f} ms, verifier {:.1f} ms, {} bytes of C",
                            compiled->compile_ms, compiled->load_ms, program.source.size()));
    steps_.done("compile and load");
    bpf::LoadedProgram loaded;
    for (bpf::CompiledMap& map : compiled->maps) {
        loaded.maps.emplace(map.name, bpf::Map(std::move(map.fd), map.key_size, map.value_size));
    }
    for (bpf::CompiledProgram& one : compiled->programs) {
        loaded.programs.emplace(one.name, std::move(one.fd));
    }
    return loaded;
}

Error Loader::refused(const bpf::CompileError& failed, const codegen::Program& program) {
    bool rights = failed.stage == bpf::CompileError::Stage::load && failed.code == EPERM &&
                  failed.log.empty();
    if (!rights) return defect(failed, program);
    return Error{failed.what, failed.code, "run as root, or with CAP_BPF and CAP_PERFMON"};
}

// What we generated should always compile and pass the verifier: if not, that is a defect here, and
// whoever mends it needs the text.
Error Loader::defect(const bpf::CompileError& failed, const codegen::Program& program) {
    std::string path = "/tmp/mlbcc-XXXXXX.bpf.c";
    if (UniqueFd file(::mkstemps(path.data(), 6)); file) {
        (void)!::write(file.get(), program.source.data(), program.source.size());
    }
    fmt::print(stderr, "{}\n", failed.log);
    return Error{fmt::format("{}: this is a defect of mlbcc, not of your rules", failed.what), 0,
                 "the generated program is in " + path +
                     ": please report it with the messages above"};
}

Result<void> Loader::attach_functions(Loaded& loaded) {
    std::map<std::string, std::vector<bpf::Site>> by_file;
    for (const plan::ProbePlan& probe : frontend_.plan.probes) {
        const target::UserFunction& function = frontend_.function(probe.id);
        const EntryPlace& place = frontend_.entries[static_cast<uint32_t>(probe.id)];
        if (place.refused) {
            loaded.refused.push_back({probe.id, ENOTSUP});
            continue;
        }
        by_file[function.path].push_back({&probe, function.offset + place.offset});
    }
    for (const auto& [path, sites] : by_file) {
        Result<bpf::Attachment> made =
            bpf::Attachment::functions(path, sites, loaded.kernel, loaded.program, loaded.mode);
        if (!made) return made.error();
        loaded.probes += sites.size() - made->refused.size();
        loaded.refused.insert(loaded.refused.end(), made->refused.begin(), made->refused.end());
        loaded.attachments.push_back(std::move(*made));
    }
    return {};
}

Result<void> Loader::attach_followers(Loaded& loaded) {
    Result<std::string> tracefs = system::ensure_tracefs();
    if (!tracefs) return tracefs.error();
    for (const codegen::Function& function : loaded.program.functions) {
        if (function.kind != ProgramKind::follow) continue;
        size_t colon = function.tracepoint.find(':');
        Result<uint64_t> id = system::tracepoint_id(*tracefs, function.tracepoint.substr(0, colon),
                                                    function.tracepoint.substr(colon + 1));
        if (!id) return id.error();
        Result<bpf::Attachment> made = bpf::Attachment::tracepoint(
            loaded.kernel.program(function.name), static_cast<uint32_t>(*id), function.tracepoint);
        if (!made) return made.error();
        loaded.attachments.push_back(std::move(*made));
    }
    return {};
}

Result<void> Loader::attach(Loaded& loaded) {
    if (auto done = attach_followers(loaded); !done) return done;
    if (auto done = attach_functions(loaded); !done) return done;
    size_t links = 0;
    for (const bpf::Attachment& one : loaded.attachments) links += one.links();
    steps_.tell(fmt::format("{} functions by {}, {} links, {} shapes", loaded.probes,
                            mode_name(loaded.mode), links, frontend_.plan.shapes.size()));
    steps_.done("attach");
    return {};
}

}  // namespace mlbcc::trace
