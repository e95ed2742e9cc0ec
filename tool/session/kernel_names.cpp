#include "session/kernel_names.h"

#include <fmt/format.h>

#include "text/tell.h"

namespace mlbcc::session {

void KernelFunctionNames::read(Verbosity verbosity, const std::string& kallsyms) {
    Result<kernel::KernelSymbols> symbols = kernel::KernelSymbols::read(kallsyms);
    if (symbols) {
        symbols_.emplace(std::move(*symbols));
        return;
    }
    const Error& error = symbols.error();
    tell_note(verbosity, fmt::format("kernel stacks have addresses for names: {}{}{}",
                                     error.message(), error.help.empty() ? "" : "; ", error.help));
}

std::optional<symbols::KernelName> KernelFunctionNames::find(uint64_t address) const {
    auto place = symbols_ ? symbols_->find(address) : std::nullopt;
    if (!place) return std::nullopt;
    return symbols::KernelName{place->name, place->module, place->offset};
}

}  // namespace mlbcc::session
