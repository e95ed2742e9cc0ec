// What the simulated driver loads instead of a cubin: a text that names the kernels of a module.
//
//   cuda_sim image
//   # comments and empty lines do not matter
//   mlp_gemm_bias_relu
//   softmax
//
// or PTX, of which it knows no more than the names behind .entry.
#pragma once

#include <string>
#include <vector>

#include "kernels.h"

namespace cuda_sim {

using Image = std::vector<const Kernel*>;

// CUDA_ERROR_INVALID_IMAGE if it is neither, CUDA_ERROR_NO_BINARY_FOR_GPU if a kernel is not known;
// a kernel of PTX that is not known does nothing when it is run. `text` ends with a zero; no more
// than its beginning is read unless that is right.
CUresult parse_image(const char* text, Image& image);

// The text of a file; CUDA_ERROR_FILE_NOT_FOUND if it cannot be read.
CUresult read_image(const char* path, std::string& text);

// As parse_image, of a file; CUDA_ERROR_FILE_NOT_FOUND if it cannot be read.
CUresult load_image(const char* path, Image& image);

}  // namespace cuda_sim
