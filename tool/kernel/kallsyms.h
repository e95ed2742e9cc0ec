// The kernel's own list of its code's symbols, /proc/kallsyms, in little memory.
//
//   ffffffff814bd140 T vfs_read               ->  vfs_read, ""
//   ffffffffc0a01230 t nvidia_ioctl [nvidia]  ->  nvidia_ioctl, "nvidia"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mlbcc::kernel {

struct KallsymsName {
    uint64_t address = 0;  // 0: not known, or hidden
    std::string_view name;
    std::string_view module;  // "": vmlinux
};

// Names, each with its address and module, in the order in which they came.
class KernelNames {
public:
    void add(const KallsymsName& name);
    size_t size() const { return entries_.size(); }
    // Its texts are valid until something is added.
    KallsymsName operator[](size_t index) const;
    // By address, for upper_bound(); names at one address stay in their order.
    void sort_by_address();
    // How many of the names are at `address` or below; they are sorted.
    size_t count_up_to(uint64_t address) const;

private:
    struct Entry {
        uint64_t address;
        uint32_t text;  // where its name begins in texts_
        uint16_t length;
        uint16_t module;  // in modules_
    };
    uint16_t index_of(std::string_view module);

    std::string texts_;
    std::vector<Entry> entries_;
    std::vector<std::string> modules_{""};
};

struct AddressRange {
    uint64_t begin = 0, end = 0;
    bool contains(uint64_t address) const { return begin <= address && address < end; }
};

struct Kallsyms {
    // Without the padding in front of functions (`__pfx_`, `__cfi_`) and the linker's own marks.
    KernelNames symbols;
    AddressRange code;  // of vmlinux; what follows is of modules
    AddressRange init;  // code that is gone when the kernel has started
    // Where kprobes are refused (kernel/kprobes.c and arch/*/kernel/kprobes): entry code, code that
    // must not be instrumented, what kprobes themselves use.
    std::vector<AddressRange> no_kprobes;
};
// Error: cannot be read, or has no symbols. Takes some 45 ms of the kernel's time for 120 000 lines
// (Linux 6.18), and 5 ms of ours. Addresses may all be 0: kernel.kptr_restrict.
Result<Kallsyms> read_kallsyms(const std::string& path = "/proc/kallsyms");

}  // namespace mlbcc::kernel
