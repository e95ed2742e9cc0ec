// What the simulated driver loads instead of a cubin: a text that names the kernels of a module.
//
//   cuda_sim image
//   # comments and empty lines do not matter
//   mlp_gemm_bias_relu
//   softmax
#pragma once

#include <string>
#include <vector>

#include "kernels.h"

namespace cuda_sim {

using Image = std::vector<const Kernel*>;

// CUDA_ERROR_INVALID_IMAGE if the first line is another, CUDA_ERROR_NO_BINARY_FOR_GPU if a kernel
// is not known. `text` ends with a zero; no more than its first line is read unless that is right.
CUresult parse_image(const char* text, Image& image);

// As parse_image, of a file; CUDA_ERROR_FILE_NOT_FOUND if it cannot be read.
CUresult load_image(const char* path, Image& image);

}  // namespace cuda_sim
