// What the kernel calls its functions, for `stack kernel`.
#pragma once

#include <optional>
#include <string>

#include "event/pipeline.h"
#include "kernel/kernel_symbols.h"
#include "text/tell.h"

namespace mlbcc::session {

class KernelFunctionNames {
public:
    // Of the modules that are there now. Where the kernel tells nothing, that is said.
    void read(Verbosity verbosity, const std::string& kallsyms = "/proc/kallsyms");
    std::optional<symbols::KernelName> find(uint64_t address) const;

private:
    std::optional<kernel::KernelSymbols> symbols_;
};

}  // namespace mlbcc::session
