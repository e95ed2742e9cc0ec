#include "bpf/abilities.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/ioctl.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/read_file.h"
#include "base/unique_fd.h"
#include "bpf/assemble.h"
#include "bpf/own_function.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

// Of the kernel: exported, and there in all versions.
constexpr const char* kKernelFunction = "vfs_read";
constexpr uint64_t kCookie = 7;

Attempt attempt(int result) {
    const int code = errno;
    if (result < 0) return {false, code != 0 ? code : EINVAL};
    ::close(result);
    return {true, 0};
}

Attempt failed(int code) {
    return {false, code};
}

UniqueFd load(const std::vector<bpf_insn>& code, uint32_t attach_type = 0) {
    return load_assembled(BPF_PROG_TYPE_KPROBE, "mlbcc_try", code, attach_type);
}

Attempt try_to_load(const std::vector<bpf_insn>& code) {
    return attempt(load(code).release());
}

std::vector<bpf_insn> calling(int32_t helper) {
    return {call(0, helper), compute(BPF_MOV, BPF_REG_0, 0), leave()};
}

// probe_read_kernel(fp - 8, 8, fp - 8)
std::vector<bpf_insn> reading_kernel() {
    return {copy(BPF_REG_1, BPF_REG_10),
            compute(BPF_ADD, BPF_REG_1, -8),
            compute(BPF_MOV, BPF_REG_2, 8),
            copy(BPF_REG_3, BPF_REG_10),
            call(0, BPF_FUNC_probe_read_kernel),
            compute(BPF_MOV, BPF_REG_0, 0),
            leave()};
}

Attempt try_map(bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries) {
    return attempt(bpf_map_create(type, "mlbcc_try", key, value, entries, nullptr));
}

std::optional<uint32_t> event_type(const char* kind) {
    auto text = read_file(std::string("/sys/bus/event_source/devices/") + kind + "/type", 4096);
    if (!text) return std::nullopt;
    return static_cast<uint32_t>(std::atoi(text->c_str()));
}

// A perf event with a program that does nothing, and a cookie.
Attempt try_event(const char* kind, const char* name, uint64_t offset,
                  const std::vector<bpf_insn>& code, int pid, int cpu) {
    const auto type = event_type(kind);
    if (!type) return failed(ENOENT);
    const UniqueFd program = load(code);
    if (!program) return failed(errno);
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = *type;
    attributes.config1 = reinterpret_cast<uint64_t>(name);
    attributes.config2 = offset;
    UniqueFd event(sys::perf_event_open(attributes, pid, cpu));
    if (!event) return failed(errno);
    return attempt(sys::link_event(program.get(), event.get(), kCookie));
}

Attempt try_uprobes(uint32_t attach_type, uint64_t offset) {
    const UniqueFd program = load(doing_nothing(), attach_type);
    if (!program) return failed(errno);
    return attempt(
        sys::link_uprobes(program.get(), attach_type, kOwnProgram, {&offset, 1}, {&kCookie, 1}));
}

Attempt try_kprobes(uint32_t attach_type) {
    const UniqueFd program = load(doing_nothing(), attach_type);
    if (!program) return failed(errno);
    const char* name = kKernelFunction;
    sys::KprobeMultiLink link{};
    link.program = static_cast<uint32_t>(program.get());
    link.attach_type = attach_type;
    link.count = 1;
    link.symbols = reinterpret_cast<uint64_t>(&name);
    return attempt(static_cast<int>(sys::bpf(sys::kLinkCreate, &link, sizeof link)));
}

Attempt try_raw_tracepoint() {
    const UniqueFd program =
        load_assembled(BPF_PROG_TYPE_RAW_TRACEPOINT, "mlbcc_try", doing_nothing());
    if (!program) return failed(errno);
    sys::RawTracepoint open{};
    open.name = reinterpret_cast<uint64_t>("sched_process_exec");
    open.program = static_cast<uint32_t>(program.get());
    return attempt(static_cast<int>(
        sys::bpf(sys::kRawTracepointOpen, &open, offsetof(sys::RawTracepoint, cookie))));
}

// As MappingStream asks for.
Attempt try_perf_events() {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.mmap = attributes.mmap2 = attributes.task = 1;
    return attempt(sys::perf_event_open(attributes, -1, 0));
}

void try_functions(Abilities& found) {
    const uint64_t offset = own_function_offset();
    const std::vector<bpf_insn> told = calling(BPF_FUNC_get_attach_cookie);
    found.uprobe = try_event("uprobe", kOwnProgram, offset, doing_nothing(), 0, -1);
    found.uprobe_multi = try_uprobes(sys::kUprobeMulti, offset);
    found.uprobe_session = try_uprobes(sys::kUprobeSession, offset);
    found.cookies = try_to_load(told);
    found.kprobe = try_event("kprobe", kKernelFunction, 0, doing_nothing(), -1, 0);
    found.kprobe_multi = try_kprobes(sys::kKprobeMulti);
    found.kprobe_session = try_kprobes(sys::kKprobeSession);
}

}  // namespace

Abilities try_abilities() {
    Abilities found;
    const auto said = libbpf_set_print(nullptr);  // what fails here is told by the caller
    const auto page = static_cast<uint32_t>(::sysconf(_SC_PAGESIZE));
    found.map = try_map(BPF_MAP_TYPE_ARRAY, 4, 4, 1);
    found.program = try_to_load(doing_nothing());
    found.ring_buffer = try_map(BPF_MAP_TYPE_RINGBUF, 0, 0, page);
    found.kernel_memory = try_to_load(reading_kernel());
    found.registers = try_to_load(setting_a_register());
    found.perf_events = try_perf_events();
    found.raw_tracepoint = try_raw_tracepoint();
    try_functions(found);
    libbpf_set_print(said);
    return found;
}

}  // namespace mlbcc::bpf
