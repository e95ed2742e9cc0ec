#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>

#include <fmt/format.h>

#include "bpf/kernel.h"
#include "bpf/probe_events.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

using codegen::AttachMode;
using codegen::ProgramKind;

}  // namespace

// Attaches the sites of one file.
class FunctionAttacher {
public:
    explicit FunctionAttacher(const std::string& path) : path_(path) {}

    Result<Attachment> by_multi(std::span<const Site> sites, const Programs& programs,
                                AttachMode mode) {
        auto attach = [&](std::span<const Site> chosen, ProgramKind kind) {
            if (chosen.empty()) return;
            multi(chosen, kind, programs.at(kind), expected_attach_type(codegen::Side::user, mode));
        };
        if (!sites.empty() && is_moving(sites.front())) {
            attach(ends_of(sites), ProgramKind::moving_ret);
            attach(sites, ProgramKind::moving_entry);
        } else if (mode == AttachMode::session) {
            attach(sites, ProgramKind::session);
        } else {
            std::vector<Site> returning;
            std::copy_if(sites.begin(), sites.end(), std::back_inserter(returning),
                         [](const Site& site) { return site.probe->has_return(); });
            attach(returning, ProgramKind::ret);
            attach(sites, ProgramKind::entry);
        }
        return finish(sites);
    }

    Result<Attachment> by_perf(std::span<const Site> sites, const LoadedProgram& loaded,
                               const codegen::Program& program) {
        if (auto ready = find_events(); !ready) return ready.error();
        auto one = [&](const Site& site, ProgramKind kind, plan::ShapeId shape) {
            for (const codegen::Function& function : program.functions) {
                if (function.kind == kind && function.shape == shape)
                    return perf_one(site, kind, loaded.program(function.name));
            }
        };
        for (const Site& site : sites) {
            const plan::ProbePlan& probe = *site.probe;
            if (is_moving(site)) {
                for (const Site& end : ends_of({&site, 1}))
                    one(end, ProgramKind::moving_ret, *probe.return_shape);
                one(site, ProgramKind::moving_entry, *probe.entry_shape);
                continue;
            }
            if (probe.return_shape) one(site, ProgramKind::ret, *probe.return_shape);
            if (probe.entry_shape) one(site, ProgramKind::entry, *probe.entry_shape);
        }
        return finish(sites);
    }

    // A moment needs no session.
    Result<Attachment> usdt(std::span<const Site> sites, int program, AttachMode mode) {
        if (mode != AttachMode::perf) {
            multi(sites, ProgramKind::usdt, program, sys::kUprobeMulti);
            return finish(sites);
        }
        if (auto ready = find_events(); !ready) return ready.error();
        for (const Site& site : sites) perf_one(site, ProgramKind::usdt, program);
        return finish(sites);
    }

private:
    static bool is_moving(const Site& site) {
        return codegen::side_of(*site.probe) == codegen::Side::moving;
    }
    static std::vector<Site> ends_of(std::span<const Site> sites) {
        std::vector<Site> ends;
        for (const Site& site : sites) {
            for (const Site::End& end : site.ends)
                ends.push_back({site.probe, end.offset, 0, {}, end.role});
        }
        return ends;
    }

    Result<Attachment> finish(std::span<const Site> sites) {
        if (made_.links() == 0 && !sites.empty()) {
            errno = made_.refused.empty() ? EINVAL : made_.refused.front().code;
            return system_error("cannot attach to " + path_, permission_help());
        }
        return std::move(made_);
    }

    static std::string permission_help() {
        if (errno != EPERM && errno != EACCES) return {};
        return "run as root, or with CAP_SYS_ADMIN, which some kernels want for uprobes one by one "
               "(of a container: --cap-add SYS_ADMIN)";
    }

    // One link for all; where the kernel refuses, the sites are halved until those that it refuses
    // stand alone.
    void multi(std::span<const Site> sites, ProgramKind kind, int program, uint32_t type) {
        if (sites.empty()) return;
        std::vector<uint64_t> offsets, cookies, semaphores;
        for (const Site& site : sites) {
            offsets.push_back(site.offset);
            if (kind == ProgramKind::usdt) semaphores.push_back(site.semaphore);
            cookies.push_back(site.cookie());
        }
        int fd =
            sys::link_uprobes(program, type, path_, offsets, cookies,
                              kind == ProgramKind::ret ? sys::kUprobeMultiReturn : 0, semaphores);
        if (fd >= 0) {
            links_of(kind).emplace_back(fd);
        } else if (sites.size() == 1 || errno == EPERM || errno == EACCES) {
            refuse(sites, errno);
        } else {
            multi(sites.first(sites.size() / 2), kind, program, type);
            multi(sites.subspan(sites.size() / 2), kind, program, type);
        }
    }

    void refuse(std::span<const Site> sites, int code) {
        for (const Site& site : sites) {
            bool known = std::any_of(made_.refused.begin(), made_.refused.end(),
                                     [&](const Refusal& r) { return r.probe == site.probe->id; });
            if (!known) made_.refused.push_back({site.probe->id, code});
        }
    }

    Result<void> find_events() {
        Result<ProbeEvents> found = probe_events("uprobe");
        if (!found) return found.error();
        events_ = *found;
        return {};
    }

    void perf_one(const Site& site, ProgramKind kind, int program) {
        UniqueFd link = link_uprobe_event(events_, path_,
                                          {site.offset, site.semaphore, kind == ProgramKind::ret},
                                          program, site.cookie());
        if (!link) return refuse({&site, 1}, errno);
        links_of(kind).push_back(std::move(link));
    }

    std::vector<UniqueFd>& links_of(ProgramKind kind) {
        const bool leaves = kind == ProgramKind::ret || kind == ProgramKind::moving_ret;
        return leaves ? made_.returns_ : made_.links_;
    }

    const std::string& path_;
    Attachment made_;
    ProbeEvents events_;
};

uint64_t Site::cookie() const {
    return role ? codegen::cookie(*probe, *role) : codegen::cookie(*probe);
}

Result<Attachment> Attachment::functions(const std::string& path, std::span<const Site> sites,
                                         const Programs& programs, AttachMode mode) {
    return FunctionAttacher(path).by_multi(sites, programs, mode);
}

Result<Attachment> Attachment::functions_by_perf(const std::string& path,
                                                 std::span<const Site> sites,
                                                 const LoadedProgram& loaded,
                                                 const codegen::Program& program) {
    return FunctionAttacher(path).by_perf(sites, loaded, program);
}

Result<Attachment> Attachment::usdt(const std::string& path, std::span<const Site> sites,
                                    int program, AttachMode mode) {
    return FunctionAttacher(path).usdt(sites, program, mode);
}

Result<Attachment> Attachment::entries(const std::string& path, int program,
                                       std::span<const uint64_t> offsets,
                                       std::span<const uint64_t> cookies) {
    UniqueFd link(sys::link_uprobes(program, sys::kUprobeMulti, path, offsets, cookies));
    if (!link) return system_error("cannot attach to " + path);
    Attachment made;
    made.links_.push_back(std::move(link));
    return made;
}

Result<Attachment> Attachment::raw_tracepoint(int program, const std::string& name) {
    sys::RawTracepoint open{};
    open.name = reinterpret_cast<uint64_t>(name.c_str());
    open.program = static_cast<uint32_t>(program);
    // Kernels before 6.11 know no cookie and want to see only what they know.
    UniqueFd link(static_cast<int>(
        sys::bpf(sys::kRawTracepointOpen, &open, offsetof(sys::RawTracepoint, cookie))));
    if (!link) return system_error("cannot attach to the tracepoint " + name);
    Attachment made;
    made.links_.push_back(std::move(link));
    return made;
}

Result<Attachment> Attachment::tracepoint(int program, uint32_t id, const std::string& name,
                                          std::optional<uint64_t> cookie) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = id;
    attributes.sample_period = 1;
    attributes.wakeup_events = 1;
    // The program runs on every CPU: it hangs on the tracepoint, not on this event's CPU.
    UniqueFd event(sys::perf_event_open(attributes, -1, 0));
    if (!event) return system_error("cannot open the tracepoint " + name);
    Attachment made;
    bool attached = false;
    if (cookie) {
        made.links_.emplace_back(sys::link_event(program, event.get(), *cookie));
        attached = static_cast<bool>(made.links_.back());
    } else {
        attached = ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program) == 0;
    }
    if (!attached || ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) {
        return system_error("cannot attach to the tracepoint " + name);
    }
    made.links_.push_back(std::move(event));
    return made;
}

}  // namespace mlbcc::bpf
