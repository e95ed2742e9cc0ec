#include "bpf/touching.h"

#include <bpf/bpf.h>

#include "bpf/assemble.h"
#include "bpf/probe_events.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

UniqueFd load_sleepable(const char* name, std::span<const bpf_insn> code, bool by_perf) {
    return load_assembled(BPF_PROG_TYPE_KPROBE, name, code, by_perf ? 0 : sys::kUprobeMulti,
                          BPF_F_SLEEPABLE);
}

std::vector<UniqueFd> link_by_perf(const std::string& path, int program,
                                   std::span<const TouchingSite> sites) {
    std::vector<UniqueFd> links;
    const Result<ProbeEvents> events = probe_events("uprobe");
    if (!events) return links;
    for (const TouchingSite& site : sites) {
        UniqueFd link =
            link_uprobe_event(*events, path, {site.offset, site.semaphore}, program, site.cookie);
        if (link) links.push_back(std::move(link));
    }
    return links;
}

}  // namespace

void append_touch(std::vector<bpf_insn>& code, int32_t size) {
    append(code, {copy(BPF_REG_1, BPF_REG_10), compute(BPF_ADD, BPF_REG_1, -8),
                  compute(BPF_MOV, BPF_REG_2, size), call(0, BPF_FUNC_copy_from_user)});
}

std::vector<UniqueFd> attach_touching(const std::string& path, const char* name,
                                      std::span<const bpf_insn> code,
                                      std::span<const TouchingSite> sites,
                                      codegen::AttachMode mode) {
    const bool by_perf = mode == codegen::AttachMode::perf;
    const UniqueFd program = load_sleepable(name, code, by_perf);
    if (!program) return {};
    if (by_perf) return link_by_perf(path, program.get(), sites);
    std::vector<uint64_t> offsets, cookies, semaphores;
    for (const TouchingSite& site : sites) {
        offsets.push_back(site.offset);
        cookies.push_back(site.cookie);
        semaphores.push_back(site.semaphore);
    }
    std::vector<UniqueFd> links;
    const int fd =
        sys::link_uprobes(program.get(), sys::kUprobeMulti, path, offsets, cookies, 0, semaphores);
    if (fd >= 0) links.emplace_back(fd);
    return links;
}

}  // namespace mlbcc::bpf
