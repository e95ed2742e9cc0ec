// The kernels that a launch can run: C++ functions on host memory, found by name. Like a kernel on
// a GPU, one computes only what its grid covers: one output element a thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "memory.h"

namespace cuda_sim {

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
    std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
};

struct Grid {
    Dim3 blocks, threads;
    unsigned shared_bytes = 0;
    // Threads along an axis, over all blocks.
    std::uint64_t width() const { return std::uint64_t{blocks.x} * threads.x; }
    std::uint64_t height() const { return std::uint64_t{blocks.y} * threads.y; }
};

struct Kernel {
    std::string_view name;
    std::span<const std::size_t> param_sizes;  // in bytes; each parameter is aligned to its size
    // Runs to the end. params[i] points at the i-th value. CUDA_ERROR_ILLEGAL_ADDRESS if a pointer
    // leads outside of the memory that it is to read or write.
    CUresult (*run)(const Memory&, const Grid&, const void* const* params);
};

// Null if there is no kernel of that name. The view of a kernel's name is terminated by a zero.
const Kernel* find_kernel(std::string_view name);

// As find_kernel; a name that is not known becomes a kernel that does nothing.
const Kernel* find_or_make_kernel(std::string_view name);

// A launch with its own copy of the parameters, which may run later and more than once (graphs).
class KernelCall {
public:
    // `params` as cuLaunchKernel takes them, or else `extra` with the parameters in one buffer.
    // Where both are absent, or the grid is not one that a device can run, valid() is false.
    KernelCall(const Kernel& kernel, const Grid& grid, void** params, void** extra);

    bool valid() const { return valid_; }
    std::string_view name() const { return kernel_->name; }
    CUresult run(const Memory& memory) const;

private:
    static constexpr std::size_t kMaxParams = 16;
    void copy_each(void** params);
    void copy_buffer(void** extra);

    const Kernel* kernel_;
    Grid grid_;
    std::array<std::uint64_t, kMaxParams> values_{};
    bool valid_ = false;
};

}  // namespace cuda_sim
