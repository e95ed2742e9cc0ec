#include "bpf/own_probes.h"

#include <bpf/bpf.h>

#include <ctime>

#include "bpf/assemble.h"
#include "bpf/probe_events.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

constexpr int16_t kRecordBytes = 64;

// For this process: another one may run the same program.
UniqueFd attach(int program, uint64_t offset, uint32_t attach_type, uint32_t flags) {
    sys::UprobeMultiLink link{};
    link.program = static_cast<uint32_t>(program);
    link.attach_type = attach_type;
    link.path = reinterpret_cast<uint64_t>(kOwnProgram);
    link.offsets = reinterpret_cast<uint64_t>(&offset);
    link.count = 1;
    link.multi_flags = flags;
    link.pid = static_cast<uint32_t>(::getpid());
    return UniqueFd(static_cast<int>(sys::bpf(sys::kLinkCreate, &link, sizeof link)));
}

// Where the kernel has no uprobe_multi links.
UniqueFd attach_event(int program, uint64_t offset, bool at_return) {
    const Result<ProbeEvents> events = probe_events("uprobe");
    if (!events) return {};
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = events->type;
    attributes.config = at_return ? events->return_flags : 0;
    attributes.config1 = reinterpret_cast<uint64_t>(kOwnProgram);
    attributes.config2 = offset;
    const UniqueFd event(sys::perf_event_open(attributes, 0, -1));
    if (!event) return {};
    return UniqueFd(sys::link_event(program, event.get(), 0));
}

}  // namespace

uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

std::vector<bpf_insn> recording(int ring, int32_t result) {
    std::vector<bpf_insn> code{
        call(0, BPF_FUNC_ktime_get_ns),
        instruction(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, -kRecordBytes, 0)};
    for (int16_t at = -kRecordBytes + 8; at < 0; at = static_cast<int16_t>(at + 8)) {
        append(code, {instruction(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, at, 0)});
    }
    append(code,
           {instruction(BPF_LD | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, ring),
            instruction(0, 0, 0, 0, 0), copy(BPF_REG_2, BPF_REG_10),
            compute(BPF_ADD, BPF_REG_2, -kRecordBytes), compute(BPF_MOV, BPF_REG_3, kRecordBytes),
            compute(BPF_MOV, BPF_REG_4, BPF_RB_NO_WAKEUP), call(0, BPF_FUNC_ringbuf_output),
            compute(BPF_MOV, BPF_REG_0, result), leave()});
    return code;
}

Result<OwnProbes> probe_own_function(FunctionLinks by, const std::vector<bpf_insn>& code,
                                     OwnPlace place) {
    const uint32_t type = by.session ? sys::kUprobeSession : by.multi ? sys::kUprobeMulti : 0;
    const bool at_return = place == OwnPlace::both_ends;
    const uint64_t offset =
        own_function_offset() + (place == OwnPlace::ret ? own_function_return() : 0);
    OwnProbes made{load_assembled(BPF_PROG_TYPE_KPROBE, "mlbcc_cost", code, type), {}};
    const int program = made.program.get();
    if (!made.program) return system_error("cannot load a program");
    if (by.multi || by.session) {
        made.links.push_back(attach(program, offset, type, 0));
        if (!by.session && at_return)
            made.links.push_back(attach(program, offset, type, sys::kUprobeMultiReturn));
    } else {
        made.links.push_back(attach_event(program, offset, false));
        if (at_return) made.links.push_back(attach_event(program, offset, true));
    }
    for (const UniqueFd& link : made.links) {
        if (!link) return system_error("cannot attach to a function of mlbcc itself");
    }
    return made;
}

}  // namespace mlbcc::bpf
