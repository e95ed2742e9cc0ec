#include "symbols.h"

#include <array>

// The entries under names of our own, so that their addresses can be taken without their
// prototypes.
#define TRAMPOLINE(symbol, since, implementation) extern "C" void entry_##symbol() asm(#symbol);
#define PUSH TRAMPOLINE
#define ENDBR TRAMPOLINE
#define LEGACY(symbol, since) TRAMPOLINE(symbol, since, not_supported)
#define ALIAS TRAMPOLINE
#include "exports.def"

namespace cuda_sim {
namespace {

constexpr std::array<const char*, kSymbolCount> kNames = {
#define TRAMPOLINE(symbol, since, implementation) #symbol,
#define PUSH TRAMPOLINE
#define ENDBR TRAMPOLINE
#define LEGACY(symbol, since) #symbol,
#define ALIAS(symbol, since, target)
#include "exports.def"
};

const Export kExports[] = {
#define TRAMPOLINE(symbol, since, implementation) ALIAS(symbol, since, symbol)
#define PUSH TRAMPOLINE
#define ENDBR TRAMPOLINE
#define LEGACY(symbol, since) ALIAS(symbol, since, symbol)
#define ALIAS(symbol, since, target)                                                               \
    {#symbol, since, reinterpret_cast<void*>(entry_##symbol), Symbol::target},
#include "exports.def"
};

}  // namespace

const char* name_of(Symbol symbol) {
    return kNames[static_cast<std::size_t>(symbol)];
}

std::span<const Export> exports() {
    return kExports;
}

}  // namespace cuda_sim
