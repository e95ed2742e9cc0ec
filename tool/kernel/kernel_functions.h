// The functions of the kernel and its modules that can be traced, by name.
//
//   "nvidia_*"  ->  nvidia_open [nvidia], nvidia_ioctl.constprop.0 [nvidia] (of nvidia_ioctl), ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/kallsyms.h"

namespace mlbcc::kernel {

struct LiveFunction {
    std::string symbol;  // what the kernel calls it: "nvidia_ioctl.constprop.0"
    // Without what gcc appends: "nvidia_ioctl". Where they differ, gcc may have left out or changed
    // parameters of the prototype.
    std::string name;
    std::string module;  // "": vmlinux
    // 0: not known. As ftrace gives it, that of its call in the function: on x86 behind an endbr64.
    uint64_t address = 0;
    // Others have the same symbol: to be traced by address, or not at all.
    bool is_ambiguous = false;
    bool is_blacklisted = false;  // the kernel refuses a kprobe there
};

struct KernelFunctionFiles {
    std::string tracefs = "/sys/kernel/tracing";  // ensure_tracefs()
    std::string kallsyms = "/proc/kallsyms";
    std::string blacklist = "/sys/kernel/debug/kprobes/blacklist";
};

class KernelFunctions {
public:
    // What ftrace can trace, where it says so (`available_filter_functions`), else all functions
    // of kallsyms. Left out: parts of functions that gcc split off (`.cold`), code of the start of
    // the kernel, BPF programs. Error: neither can be read.
    static Result<KernelFunctions> read(const KernelFunctionFiles& files = {});

    // Those whose symbol or name matches, by symbol, then module, then address.
    std::vector<LiveFunction> find(std::string_view pattern) const;

    // Of all, each once, sorted: for "there is one with a similar name".
    std::vector<std::string> names() const;
    size_t size() const { return functions_.size(); }
    const std::string& source() const { return source_; }  // the file that they are from
    bool is_from_ftrace() const { return is_from_ftrace_; }

private:
    KernelFunctions() = default;
    bool is_blacklisted(const KallsymsName& function) const;

    KernelNames functions_;
    std::string source_;
    bool is_from_ftrace_ = false;
    std::vector<std::string> blacklist_;  // "name", "name [module]"; sorted
    std::vector<AddressRange> no_kprobes_;
};

// nvidia_ioctl.constprop.0 -> nvidia_ioctl
std::string_view without_suffix(std::string_view symbol);

}  // namespace mlbcc::kernel
