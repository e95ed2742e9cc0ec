// Where the trampolines jump to, in the order in which entries_trampoline.cpp numbers them.

#include "entry.h"

#define TRAMPOLINE(symbol, since, implementation)                                                  \
    reinterpret_cast<void*>(cuda_sim::Entry<cuda_sim::Symbol::symbol>::call),
#define LEGACY(symbol, since) TRAMPOLINE(symbol, since, not_supported)
#define ALIAS(symbol, since, target)
#define PUSH(symbol, since, implementation)
#define ENDBR(symbol, since, implementation)

extern "C" __attribute__((visibility("hidden"))) void* const cuda_sim_table[] = {
#include "exports.def"
};

#define TRAMPOLINE(symbol, since, implementation)                                                  \
    reinterpret_cast<void*>(cuda_sim::Entry<cuda_sim::Symbol::symbol>::call),
#define PUSH TRAMPOLINE
#define ENDBR TRAMPOLINE
#define LEGACY(symbol, since) TRAMPOLINE(symbol, since, not_supported)
#define ALIAS(symbol, since, target)

namespace cuda_sim {
namespace {

void* const kInner[] = {
#include "exports.def"
};

}  // namespace

void* inner_address(Symbol symbol) {
    return kInner[static_cast<std::size_t>(symbol)];
}

}  // namespace cuda_sim
