// What the simulated driver can do: for every function of the CUDA driver API that it has, one
// function of the same name in namespace api, with exactly the type of the prototype in
// rules/types/cuda_driver.h. The exported symbols (exports.def) count a call and then call these;
// nothing here calls an exported symbol.
#pragma once

#include "../../rules/types/cuda_driver.h"

namespace cuda_sim::api {

#define TRAMPOLINE(symbol, since, implementation) decltype(::implementation) implementation;
#define PUSH TRAMPOLINE
#define ENDBR TRAMPOLINE
#define LEGACY(symbol, since)
#define ALIAS(symbol, since, target)
#include "exports.def"

// Stands behind every LEGACY symbol, whatever its parameters: returns CUDA_ERROR_NOT_SUPPORTED.
CUresult not_supported();

}  // namespace cuda_sim::api
