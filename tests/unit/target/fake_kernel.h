// System calls and tracepoints as a line of text each.
//
//   add_syscall(host, "openat@257", "int dfd, const char * filename");
//   add_tracepoint(host, "sched:sched_process_exec@365",
//                  "__data_loc char[] filename@8+4, pid_t pid@12+4s");
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "target/fixture.h"

namespace mlbcc::target {

// "a, b" -> {"a", "b"}
inline std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> parts;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find(", ", at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 2;
    }
    return parts;
}

// "name@12" -> "name", 12
inline std::pair<std::string, uint32_t> split_number(const std::string& text) {
    size_t at = text.rfind('@');
    return {text.substr(0, at), static_cast<uint32_t>(std::strtoul(&text[at + 1], nullptr, 10))};
}

// "const char * filename" -> the field of that name and type
inline TraceField trace_field_of(const std::string& declared) {
    TraceField field;
    size_t space = declared.rfind(' ');
    field.type = declared.substr(0, space);
    field.name = declared.substr(space + 1);
    return field;
}

// `tracepoint`: the kernel's own name where that is another.
inline void add_syscall(FakeHost& host, const std::string& numbered, const std::string& parameters,
                        const std::string& tracepoint = {}) {
    auto [name, number] = split_number(numbered);
    const std::string own = tracepoint.empty() ? name : tracepoint;
    host.system_calls.push_back({name, number, own});
    TracepointFormat& format = host.formats["syscalls:sys_enter_" + own];
    format.id = 1000 + number;
    format.fields.push_back({"__syscall_nr", "int", 8, 4, true});
    uint32_t offset = 16;
    for (const std::string& one : split_list(parameters)) {
        TraceField field = trace_field_of(one);
        field.offset = offset;
        field.size = 8;
        offset += 8;
        format.fields.push_back(field);
    }
}

// Each field has "@OFFSET+SIZE" behind it, and an "s" where it is signed.
inline void add_tracepoint(FakeHost& host, const std::string& numbered, const std::string& fields) {
    auto [name, id] = split_number(numbered);
    TracepointFormat& format = host.formats[name];
    format.id = id;
    for (const std::string& one : split_list(fields)) {
        size_t at = one.rfind('@'), plus = one.rfind('+');
        TraceField field = trace_field_of(one.substr(0, at));
        field.offset = static_cast<uint32_t>(std::strtoul(&one[at + 1], nullptr, 10));
        field.size = static_cast<uint32_t>(std::strtoul(&one[plus + 1], nullptr, 10));
        field.is_signed = one.ends_with('s');
        format.fields.push_back(field);
    }
}

// A kernel in little, with fields as Linux 6.18 has them.
inline void add_kernel(FakeHost& host) {
    add_syscall(host, "read@0", "unsigned int fd, char * buf, size_t count");
    add_syscall(host, "write@1", "unsigned int fd, const char * buf, size_t count");
    add_syscall(host, "close@3", "unsigned int fd");
    add_syscall(host, "fstat@5", "unsigned int fd, struct stat * statbuf", "newfstat");
    add_syscall(host, "getpid@39", "");
    add_syscall(host, "openat@257", "int dfd, const char * filename, int flags, umode_t mode");
    host.kernel.functions = {{"vfs_read", "vfs_read", "", 0},
                             {"vfs_write", "vfs_write", "", 0},
                             {"size_show", "size_show", "", 0x1000},
                             {"size_show", "size_show", "", 0x2000},
                             {"nvidia_ioctl.constprop.0", "nvidia_ioctl", "nvidia", 0}};
    host.kernel.blacklisted = {"vfs_never"};
    host.kernel.ambiguous = {"vfs_twice"};
    add_tracepoint(host, "sched:sched_process_exec@365",
                   "__data_loc char[] filename@8+4, pid_t pid@12+4s, pid_t old_pid@16+4s");
    add_tracepoint(host, "sched:sched_switch@372",
                   "char[16] prev_comm@8+16, pid_t prev_pid@24+4s, long prev_state@32+8s, "
                   "char[16] next_comm@40+16, pid_t next_pid@56+4s");
    add_tracepoint(host, "raw_syscalls:sys_enter@443", "long id@8+8s, unsigned long[6] args@16+48");
    add_tracepoint(host, "block:block_rq_done@9",
                   "bool merged@8+1, void * rq@16+8, unsigned int bytes@24+4, u64 sector@32+8");
}

}  // namespace mlbcc::target
