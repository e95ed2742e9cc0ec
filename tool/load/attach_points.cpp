#include "load/attach_points.h"

#include <map>
#include <vector>

#include "files/mounts.h"

namespace mlbcc::load {
namespace {

using codegen::ProgramKind;

class PointAttacher {
public:
    PointAttacher(const plan::Plan& plan, Loaded& loaded) : plan_(plan), loaded_(loaded) {}

    // Whose calls are wanted is known before the first program runs.
    Result<void> run() {
        if (auto done = connect_syscalls(); !done) return done;
        for (const codegen::Function& function : loaded_.program.functions) {
            if (auto done = attach(function); !done) return done;
        }
        return {};
    }

private:
    Result<void> connect_syscalls() {
        bpf::Map* wanted = loaded_.kernel.map(codegen::maps::kSyscalls);
        if (wanted == nullptr) return {};
        for (const plan::ProbePlan& probe : plan_.probes) {
            if (probe.kind != plan::ProbeKind::syscall) continue;
            uint32_t number = std::get<target::Syscall>(probe.probe->at).number;
            uint64_t cookie = codegen::cookie(probe);
            if (auto done = wanted->update(&number, &cookie); !done) return done;
            ++loaded_.probes;
        }
        bpf::Map* shapes = loaded_.kernel.map(codegen::maps::kSyscallShapes);
        for (const codegen::Function& one : loaded_.program.functions) {
            if (one.kind != ProgramKind::syscall) continue;
            MLBCC_CHECK(shapes != nullptr);
            int program = loaded_.kernel.program(one.name);
            for (const uint32_t slot : one.slots) {
                if (auto done = shapes->update(&slot, &program); !done) return done;
            }
        }
        return {};
    }

    Result<void> attach(const codegen::Function& function) {
        int program = loaded_.kernel.program(function.name);
        if (function.kind == ProgramKind::raw_tracepoint) {
            if (function.point.empty()) return {};  // the tracer runs it itself
            return keep(bpf::Attachment::raw_tracepoint(
                program, function.point.substr(function.point.find(':') + 1)));
        }
        if (function.kind == ProgramKind::usdt) return attach_usdt(function, program);
        if (function.kind != ProgramKind::tracepoint) return {};
        return function.point.empty() ? attach_shape(function, program)
                                      : attach_named(function, program);
    }

    Result<void> attach_named(const codegen::Function& function, int program) {
        size_t colon = function.point.find(':');
        Result<std::string> tracefs = files::ensure_tracefs();
        if (!tracefs) return tracefs.error();
        Result<uint64_t> id = files::tracepoint_id(*tracefs, function.point.substr(0, colon),
                                                   function.point.substr(colon + 1));
        if (!id) return id.error();
        return keep(
            bpf::Attachment::tracepoint(program, static_cast<uint32_t>(*id), function.point));
    }

    Result<void> attach_shape(const codegen::Function& function, int program) {
        for (const plan::ProbePlan& probe : plan_.probes) {
            bool mine =
                probe.kind == plan::ProbeKind::tracepoint && probe.entry_shape == function.shape;
            if (!mine) continue;
            const auto& point = std::get<target::Tracepoint>(probe.probe->at);
            auto done = keep(bpf::Attachment::tracepoint(
                program, point.id, point.category + ":" + point.name, codegen::cookie(probe)));
            if (!done) return done;
            ++loaded_.probes;
        }
        return {};
    }

    Result<void> attach_usdt(const codegen::Function& function, int program) {
        std::map<std::string, std::vector<bpf::Site>> by_file;
        for (const plan::ProbePlan& probe : plan_.probes) {
            if (probe.kind != plan::ProbeKind::usdt || probe.entry_shape != function.shape)
                continue;
            const auto& at = std::get<target::Usdt>(probe.probe->at);
            by_file[at.path].push_back({&probe, at.probe.offset, at.probe.semaphore});
        }
        for (const auto& [path, sites] : by_file) {
            Result<bpf::Attachment> made =
                bpf::Attachment::usdt(path, sites, program, loaded_.mode);
            if (!made) return made.error();
            loaded_.probes += sites.size() - made->refused.size();
            loaded_.refused.insert(loaded_.refused.end(), made->refused.begin(),
                                   made->refused.end());
            loaded_.attachments.push_back(std::move(*made));
            if (auto touching = bpf::Attachment::touch_arguments(path, sites, loaded_.mode)) {
                loaded_.attachments.push_back(std::move(*touching));
            }
        }
        return {};
    }

    Result<void> keep(Result<bpf::Attachment> made) {
        if (!made) return made.error();
        loaded_.attachments.push_back(std::move(*made));
        return {};
    }

    const plan::Plan& plan_;
    Loaded& loaded_;
};

}  // namespace

Result<void> attach_points(const plan::Plan& plan, Loaded& loaded) {
    return PointAttacher(plan, loaded).run();
}

}  // namespace mlbcc::load
