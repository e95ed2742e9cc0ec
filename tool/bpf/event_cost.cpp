#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "bpf/abilities.h"
#include "bpf/assemble.h"
#include "bpf/own_function.h"
#include "bpf/probe_events.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

constexpr uint32_t kRingBytes = 1 << 18;  // a batch of calls fits in
constexpr int kCalls = 500, kBatches = 9;
constexpr int16_t kRecordBytes = 64;

uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// ringbuf_output(ring, {time, 0...}, 64, BPF_RB_NO_WAKEUP)
std::vector<bpf_insn> recording(int ring) {
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
            compute(BPF_MOV, BPF_REG_0, 0), instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)});
    return code;
}

UniqueFd load(const std::vector<bpf_insn>& code, uint32_t attach_type) {
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    options.expected_attach_type = static_cast<bpf_attach_type>(attach_type);
    return UniqueFd(bpf_prog_load(BPF_PROG_TYPE_KPROBE, "mlbcc_cost", "GPL", code.data(),
                                  code.size(), &options));
}

// For this process: another one may run the same program.
UniqueFd attach(int program, uint32_t attach_type, uint32_t flags) {
    const uint64_t offset = own_function_offset();
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
UniqueFd attach_event(int program, bool at_return) {
    const Result<ProbeEvents> events = probe_events("uprobe");
    if (!events) return {};
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = events->type;
    attributes.config = at_return ? events->return_flags : 0;
    attributes.config1 = reinterpret_cast<uint64_t>(kOwnProgram);
    attributes.config2 = own_function_offset();
    const UniqueFd event(sys::perf_event_open(attributes, 0, -1));
    if (!event) return {};
    return UniqueFd(sys::link_event(program, event.get(), 0));
}

struct OwnProbes {
    UniqueFd program;
    std::vector<UniqueFd> links;
};

// On the function's entry and on its return, as the tracer would.
Result<OwnProbes> place(const Abilities& abilities, const std::vector<bpf_insn>& code) {
    const bool session = abilities.uprobe_session.works, multi = abilities.uprobe_multi.works;
    const uint32_t type = session ? sys::kUprobeSession : multi ? sys::kUprobeMulti : 0;
    OwnProbes made{load(code, type), {}};
    const int program = made.program.get();
    if (!made.program) return system_error("cannot load a program");
    if (multi || session) {
        made.links.push_back(attach(program, type, 0));
        if (!session) made.links.push_back(attach(program, type, sys::kUprobeMultiReturn));
    } else {
        made.links.push_back(attach_event(program, false));
        made.links.push_back(attach_event(program, true));
    }
    for (const UniqueFd& link : made.links) {
        if (!link) return system_error("cannot attach to a function of mlbcc itself");
    }
    return made;
}

int count_record(void* context, void* /*data*/, size_t /*size*/) {
    ++*static_cast<uint64_t*>(context);
    return 0;
}

template <class Between> double median_call_ns(Between between) {
    std::array<double, kBatches> each{};
    for (double& one : each) {
        const uint64_t begin = now_ns();
        for (int i = 0; i < kCalls; ++i) call_own_function();
        one = static_cast<double>(now_ns() - begin) / kCalls;
        between();
    }
    std::sort(each.begin(), each.end());
    return each[kBatches / 2];
}

}  // namespace

Result<EventCost> measure_event(const Abilities& abilities) {
    UniqueFd ring(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "mlbcc_cost", 0, 0, kRingBytes, nullptr));
    if (!ring) return system_error("cannot make a ring buffer");
    EventCost cost;
    const std::unique_ptr<ring_buffer, decltype(&ring_buffer__free)> reader(
        ring_buffer__new(ring.get(), count_record, &cost.records, nullptr), ring_buffer__free);
    if (!reader) return system_error("cannot read a ring buffer");
    cost.call_ns = median_call_ns([] {});
    const Result<OwnProbes> probes = place(abilities, recording(ring.get()));
    if (!probes) return probes.error();
    const double traced = median_call_ns([&] { ring_buffer__consume(reader.get()); });
    cost.expected = uint64_t{2} * kCalls * kBatches;
    cost.event_ns = std::max(0.0, traced - cost.call_ns) / 2;
    return cost;
}

}  // namespace mlbcc::bpf
