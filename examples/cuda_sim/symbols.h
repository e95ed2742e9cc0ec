// The exported symbols as numbers and as a table of names, versions and addresses.
#pragma once

#include <cstddef>
#include <span>

namespace cuda_sim {

// One a distinct entry; an alias has none.
enum class Symbol : unsigned {
#define TRAMPOLINE(symbol, since, implementation) symbol,
#define PUSH TRAMPOLINE
#define ENDBR TRAMPOLINE
#define LEGACY(symbol, since) symbol,
#define ALIAS(symbol, since, target)
#include "exports.def"
    kCount
};

inline constexpr std::size_t kSymbolCount = static_cast<std::size_t>(Symbol::kCount);

// The name of a symbol as it is exported.
const char* name_of(Symbol symbol);

struct Export {
    const char* name;
    int since;      // CUDA version, 1000 * major + 10 * minor
    void* address;  // what dlsym gives for the name
    Symbol symbol;  // for an alias, of its target
};

// What a symbol's entry goes on to: does the same, and is exported under no name.
void* inner_address(Symbol symbol);

// All exported names, aliases included, in the order of exports.def.
std::span<const Export> exports();

}  // namespace cuda_sim
