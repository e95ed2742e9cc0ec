// Between an exported symbol and its implementation: counts the call under the symbol's own name,
// so that the books tell cuMemAlloc_v2 from cuMemAlloc, and refuses once the process is exiting.
#pragma once

#include "api.h"
#include "symbols.h"

namespace cuda_sim {

// The mark of a driver that has shut down, as NVIDIA's library compares it in each of its
// trampolines.
inline constexpr unsigned kShutDown = 0x321cba00;

// kShutDown after the library's destructor has run, else 0. C linkage: the trampolines compare it
// in assembly.
extern "C" __attribute__((visibility("hidden"))) unsigned cuda_sim_state;

// Adds one to the calls of `symbol` in the books.
void count_call(Symbol symbol);

// Adds one to its calls that did not return CUDA_SUCCESS.
void count_failure(Symbol symbol);

template <Symbol S> struct Implementation;

#define TRAMPOLINE(symbol, since, implementation)                                                  \
    template <> struct Implementation<Symbol::symbol> {                                            \
        static constexpr auto function = api::implementation;                                      \
    };
#define PUSH TRAMPOLINE
#define ENDBR TRAMPOLINE
#define LEGACY(symbol, since) TRAMPOLINE(symbol, since, not_supported)
#define ALIAS(symbol, since, target)
#include "exports.def"

template <Symbol S, typename Function = decltype(Implementation<S>::function)> struct Entry;

template <Symbol S, typename... Args> struct Entry<S, CUresult (*const)(Args...)> {
    // Not inlined, so that a compiled entry is a frame and a call.
    __attribute__((noinline)) static CUresult call(Args... args) {
        if (cuda_sim_state == kShutDown) return CUDA_ERROR_DEINITIALIZED;
        count_call(S);
        const CUresult result = Implementation<S>::function(args...);
        if (result) count_failure(S);
        return result;
    }
};

// What a compiled entry does: enter<Symbol::cuInit>(Flags).
template <Symbol S, typename... Args> CUresult enter(Args... args) {
    return Entry<S>::call(args...);
}

}  // namespace cuda_sim

#define CUDA_SIM_EXPORT extern "C" __attribute__((visibility("default")))
