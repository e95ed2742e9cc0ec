#include "kernel/kernel_symbols.h"

#include <utility>

namespace mlbcc::kernel {

namespace {

// kallsyms gives no sizes; no function is larger.
constexpr uint64_t kMaxFunction = uint64_t{1} << 20;  // bytes

}  // namespace

Result<KernelSymbols> KernelSymbols::read(const std::string& path) {
    Result<Kallsyms> kallsyms = read_kallsyms(path);
    if (!kallsyms) return kallsyms.error();
    return from(std::move(*kallsyms));
}

Result<KernelSymbols> KernelSymbols::from(Kallsyms kallsyms) {
    KernelSymbols symbols;
    symbols.kallsyms_ = std::move(kallsyms);
    KernelNames& names = symbols.kallsyms_.symbols;
    names.sort_by_address();
    if (names.size() == 0 || names[names.size() - 1].address == 0) {
        return Error{"the kernel hides the addresses of its functions", 0,
                     "run as root or with CAP_SYSLOG, and if root does not see them either: "
                     "sysctl -w kernel.kptr_restrict=1"};
    }
    return symbols;
}

// Behind the last function of vmlinux there is none until the next module.
bool KernelSymbols::is_code(uint64_t address, const KallsymsName& symbol) const {
    if (symbol.address == 0 || address - symbol.address >= kMaxFunction) return false;
    for (const AddressRange& range : {kallsyms_.code, kallsyms_.init}) {
        if (range.contains(symbol.address)) return range.contains(address);
    }
    return true;
}

std::optional<KernelPlace> KernelSymbols::find(uint64_t address) const {
    const KernelNames& names = kallsyms_.symbols;
    size_t index = names.count_up_to(address);
    if (index == 0) return std::nullopt;
    --index;
    // Of several names at one place the kernel lists the best one first (scripts/kallsyms.c).
    while (index > 0 && names[index - 1].address == names[index].address) --index;
    const KallsymsName symbol = names[index];
    if (!is_code(address, symbol)) return std::nullopt;
    return KernelPlace{symbol.name, symbol.module, address - symbol.address};
}

}  // namespace mlbcc::kernel
