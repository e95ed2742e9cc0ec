// The constants of CUresult in words.
#pragma once

#include "../../rules/types/cuda_driver.h"

namespace cuda_sim {

// "CUDA_ERROR_OUT_OF_MEMORY"; null for a value that is no constant.
const char* error_name(CUresult error);

// "out of memory"; null for a value that is no constant.
const char* error_text(CUresult error);

}  // namespace cuda_sim
