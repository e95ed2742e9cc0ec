// Attaches to functions of the kernel and of its modules.
#include <algorithm>
#include <string>

#include "bpf/kernel.h"
#include "bpf/probe_events.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

using codegen::AttachMode;
using codegen::ProgramKind;
using codegen::Side;
using Probes = std::span<const plan::ProbePlan* const>;

const target::KernelFunction& function_of(const plan::ProbePlan& probe) {
    return std::get<target::KernelFunction>(probe.probe->at);
}

bool is_forbidden(int code) {
    return code == EPERM || code == EACCES;
}

}  // namespace

class KernelAttacher {
public:
    Result<Attachment> by_multi(Probes probes, const Programs& programs, AttachMode mode) {
        attach_type_ = expected_attach_type(Side::kernel, mode);
        std::vector<const plan::ProbePlan*> named, placed;
        for (const plan::ProbePlan* one : probes) {
            (function_of(*one).address == 0 ? named : placed).push_back(one);
        }
        for (const auto& group : {named, placed}) {
            if (mode == AttachMode::session) {
                multi(group, programs.at(ProgramKind::kernel_session), false);
                continue;
            }
            std::vector<const plan::ProbePlan*> returning;
            std::ranges::copy_if(group, std::back_inserter(returning),
                                 [](const plan::ProbePlan* one) { return one->has_return(); });
            if (!returning.empty()) multi(returning, programs.at(ProgramKind::kernel_ret), true);
            multi(group, programs.at(ProgramKind::kernel_entry), false);
        }
        return finish();
    }

    Result<Attachment> by_perf(Probes probes, const LoadedProgram& loaded,
                               const codegen::Program& program) {
        if (auto ready = find_events(); !ready) return ready.error();
        auto one = [&](const plan::ProbePlan& probe, ProgramKind kind, plan::ShapeId shape) {
            for (const codegen::Function& function : program.functions) {
                if (function.kind != kind || function.shape != shape) continue;
                perf(probe, loaded.program(function.name), kind == ProgramKind::kernel_ret);
            }
        };
        for (const plan::ProbePlan* probe : probes) {
            if (probe->return_shape) one(*probe, ProgramKind::kernel_ret, *probe->return_shape);
            if (probe->entry_shape) one(*probe, ProgramKind::kernel_entry, *probe->entry_shape);
        }
        return finish();
    }

private:
    // What no kernel would permit ends the trace; that this one lets some functions not be probed
    // does not.
    Result<Attachment> finish() {
        bool forbidden =
            made_.links_.empty() && std::ranges::any_of(made_.refused, [](const Refusal& one) {
                return is_forbidden(one.code);
            });
        if (!forbidden) return std::move(made_);
        errno = EPERM;
        return system_error("cannot attach to functions of the kernel",
                            "run as root, or with CAP_BPF and CAP_PERFMON; where the kernel is "
                            "locked down, it permits none");
    }

    // One link for all; where the kernel refuses, they are halved until those that it refuses stand
    // alone.
    void multi(Probes probes, int program, bool is_return) {
        if (probes.empty()) return;
        int fd = link(probes, program, is_return);
        int code = errno;
        if (fd >= 0) {
            made_.links_.emplace_back(fd);
        } else if (probes.size() == 1 || is_forbidden(code)) {
            for (const plan::ProbePlan* one : probes) refuse(*one, code);
        } else {
            multi(probes.first(probes.size() / 2), program, is_return);
            multi(probes.subspan(probes.size() / 2), program, is_return);
        }
    }

    int link(Probes probes, int program, bool is_return) const {
        std::vector<const char*> symbols;
        std::vector<uint64_t> addresses, cookies;
        for (const plan::ProbePlan* one : probes) {
            const target::KernelFunction& function = function_of(*one);
            symbols.push_back(function.symbol.c_str());
            addresses.push_back(function.address);
            cookies.push_back(codegen::cookie(*one));
        }
        bool by_name = addresses.front() == 0;
        sys::KprobeMultiLink link{};
        link.program = static_cast<uint32_t>(program);
        link.attach_type = attach_type_;
        link.multi_flags = is_return ? sys::kKprobeMultiReturn : 0;
        link.count = static_cast<uint32_t>(probes.size());
        link.symbols = by_name ? reinterpret_cast<uint64_t>(symbols.data()) : 0;
        link.addresses = by_name ? 0 : reinterpret_cast<uint64_t>(addresses.data());
        link.cookies = reinterpret_cast<uint64_t>(cookies.data());
        return static_cast<int>(sys::bpf(sys::kLinkCreate, &link, sizeof link));
    }

    Result<void> find_events() {
        Result<ProbeEvents> found = probe_events("kprobe");
        if (!found) return found.error();
        events_ = *found;
        return {};
    }

    // A module's function is "module:function" there.
    void perf(const plan::ProbePlan& probe, int program, bool is_return) {
        const target::KernelFunction& function = function_of(probe);
        std::string name =
            function.module.empty() ? function.symbol : function.module + ":" + function.symbol;
        bool by_name = function.address == 0;
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        attributes.type = events_.type;
        attributes.config = is_return ? events_.return_flags : 0;
        attributes.config1 = by_name ? reinterpret_cast<uint64_t>(name.c_str()) : 0;
        attributes.config2 = function.address;
        UniqueFd event(sys::perf_event_open(attributes, -1, 0));
        if (!event) return refuse(probe, errno);
        UniqueFd link(sys::link_event(program, event.get(), codegen::cookie(probe)));
        if (!link) return refuse(probe, errno);
        made_.links_.push_back(std::move(link));  // it keeps the event
    }

    void refuse(const plan::ProbePlan& probe, int code) {
        bool known = std::ranges::any_of(made_.refused,
                                         [&](const Refusal& one) { return one.probe == probe.id; });
        if (!known) made_.refused.push_back({probe.id, code});
    }

    Attachment made_;
    uint32_t attach_type_ = 0;
    ProbeEvents events_;
};

Result<Attachment> Attachment::kernel_functions(Probes probes, const Programs& programs,
                                                AttachMode mode) {
    return KernelAttacher().by_multi(probes, programs, mode);
}

Result<Attachment> Attachment::kernel_functions_by_perf(Probes probes, const LoadedProgram& loaded,
                                                        const codegen::Program& program) {
    return KernelAttacher().by_perf(probes, loaded, program);
}

}  // namespace mlbcc::bpf
