// The bpf(2) and perf_event_open(2) calls that libbpf 1.1 and Debian 12's headers do not know yet.
// Source of numbers and layouts: include/uapi/linux/bpf.h of Linux 6.18.
#pragma once

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/open_file.h"

namespace mlbcc::bpf::sys {

inline constexpr int kLinkCreate = 28;             // BPF_LINK_CREATE
inline constexpr int kRawTracepointOpen = 17;      // BPF_RAW_TRACEPOINT_OPEN
inline constexpr uint32_t kPerfEvent = 41;         // BPF_PERF_EVENT
inline constexpr uint32_t kUprobeMulti = 48;       // BPF_TRACE_UPROBE_MULTI
inline constexpr uint32_t kUprobeSession = 57;     // BPF_TRACE_UPROBE_SESSION
inline constexpr uint32_t kUprobeMultiReturn = 1;  // BPF_F_UPROBE_MULTI_RETURN
inline constexpr uint32_t kKprobeMulti = 42;       // BPF_TRACE_KPROBE_MULTI
inline constexpr uint32_t kKprobeSession = 56;     // BPF_TRACE_KPROBE_SESSION
inline constexpr uint32_t kKprobeMultiReturn = 1;  // BPF_F_KPROBE_MULTI_RETURN

struct UprobeMultiLink {
    uint32_t program, target, attach_type, flags;
    uint64_t path, offsets, ref_ctr_offsets, cookies;
    uint32_t count, multi_flags, pid, padding;
};
static_assert(sizeof(UprobeMultiLink) == 64);

struct KprobeMultiLink {
    uint32_t program, target, attach_type, flags;
    uint32_t multi_flags, count;
    uint64_t symbols, addresses, cookies;  // symbols or addresses
};
static_assert(sizeof(KprobeMultiLink) == 48);

struct PerfLink {
    uint32_t program, event, attach_type, flags;
    uint64_t cookie;
};

struct RawTracepoint {
    uint64_t name;
    uint32_t program, padding;
    uint64_t cookie;
};

inline long bpf(int command, const void* attributes, size_t size) {
    return syscall(__NR_bpf, command, attributes, size);
}

// A link of one program to many places of a file: its descriptor, or -1 with errno. As many cookies
// as offsets, and of semaphores, too, if there are any.
inline int link_uprobes(int program, uint32_t attach_type, const std::string& path,
                        std::span<const uint64_t> offsets, std::span<const uint64_t> cookies,
                        uint32_t flags = 0, std::span<const uint64_t> semaphores = {}) {
    const HeldPath file(path);
    UprobeMultiLink link{};
    link.program = static_cast<uint32_t>(program);
    link.attach_type = attach_type;
    link.path = reinterpret_cast<uint64_t>(file.c_str());
    link.offsets = reinterpret_cast<uint64_t>(offsets.data());
    link.cookies = reinterpret_cast<uint64_t>(cookies.data());
    if (!semaphores.empty()) link.ref_ctr_offsets = reinterpret_cast<uint64_t>(semaphores.data());
    link.count = static_cast<uint32_t>(offsets.size());
    link.multi_flags = flags;
    return static_cast<int>(bpf(kLinkCreate, &link, sizeof link));
}

// A link of a program to a perf event: its descriptor, which keeps the event, or -1 with errno.
inline int link_event(int program, int event, uint64_t cookie) {
    PerfLink link{};
    link.program = static_cast<uint32_t>(program);
    link.event = static_cast<uint32_t>(event);
    link.attach_type = kPerfEvent;
    link.cookie = cookie;
    return static_cast<int>(bpf(kLinkCreate, &link, sizeof link));
}

inline int perf_event_open(perf_event_attr& attributes, int pid, int cpu) {
    return static_cast<int>(
        syscall(__NR_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace mlbcc::bpf::sys
