// From an address in the kernel to the function that is there, for stacks:
//
//   0xffffffff814bd16a  ->  vfs_read + 0x2a
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/kallsyms.h"

namespace mlbcc::kernel {

struct KernelPlace {
    std::string_view name;
    std::string_view module;  // "": vmlinux; "bpf": a BPF program
    uint64_t offset = 0;      // bytes from the function's beginning
};

class KernelSymbols {
public:
    // As they are now: functions of a module that is loaded later are not known. Error: the file
    // cannot be read, or the kernel hides the addresses.
    static Result<KernelSymbols> read(const std::string& path = "/proc/kallsyms");
    // Of what was read already.
    static Result<KernelSymbols> from(Kallsyms kallsyms);

    // Nothing where no function is. Callers' addresses point behind the call: ask for one byte
    // less. The texts live as long as this.
    std::optional<KernelPlace> find(uint64_t address) const;

private:
    KernelSymbols() = default;
    bool is_code(uint64_t address, const KallsymsName& symbol) const;

    Kallsyms kallsyms_;
};

}  // namespace mlbcc::kernel
