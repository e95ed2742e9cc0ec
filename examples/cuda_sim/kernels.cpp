#include "kernels.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace cuda_sim {
namespace {

bool readable(const Memory& memory, const float* values, std::uint64_t count) {
    return memory.covers(reinterpret_cast<std::uintptr_t>(values), count * sizeof *values);
}

// out[i] = a[i] + b[i] for i < n
CUresult vector_add(const Memory& memory, const Grid& grid, const float* a, const float* b,
                    float* out, int n) {
    const std::uint64_t count = std::min<std::uint64_t>(n > 0 ? n : 0, grid.width());
    if (!readable(memory, a, count) || !readable(memory, b, count) || !readable(memory, out, count))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (std::uint64_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
    return CUDA_SUCCESS;
}

// out[row][column] = bias[column] + sum over k of x[row][k] * weights[k][column]; x along the
// columns, y the rows.
template <bool Relu> CUresult gemm_bias(const Memory& memory, const Grid& grid, const float* x,
                                        const float* weights, const float* bias, float* out,
                                        int rows, int inner, int columns) {
    if (rows <= 0 || inner <= 0 || columns <= 0) return CUDA_SUCCESS;
    const std::uint64_t r = rows, k = inner, c = columns;
    if (!readable(memory, x, r * k) || !readable(memory, weights, k * c) ||
        !readable(memory, bias, c) || !readable(memory, out, r * c))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (std::uint64_t row = 0; row < std::min(r, grid.height()); ++row) {
        for (std::uint64_t column = 0; column < std::min(c, grid.width()); ++column) {
            float sum = bias[column];
            for (std::uint64_t i = 0; i < k; ++i) sum += x[row * k + i] * weights[i * c + column];
            out[row * c + column] = Relu ? std::max(sum, 0.0f) : sum;
        }
    }
    return CUDA_SUCCESS;
}

// Each row of out is the softmax of that row of x; one thread a row.
CUresult softmax(const Memory& memory, const Grid& grid, const float* x, float* out, int rows,
                 int columns) {
    if (rows <= 0 || columns <= 0) return CUDA_SUCCESS;
    const std::uint64_t r = rows, c = columns;
    if (!readable(memory, x, r * c) || !readable(memory, out, r * c))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (std::uint64_t row = 0; row < std::min(r, grid.width()); ++row) {
        const float* in = x + row * c;
        const float highest = *std::max_element(in, in + c);
        float sum = 0;
        for (std::uint64_t i = 0; i < c; ++i) sum += out[row * c + i] = std::exp(in[i] - highest);
        for (std::uint64_t i = 0; i < c; ++i) out[row * c + i] /= sum;
    }
    return CUDA_SUCCESS;
}

// Keeps the device busy: returns after `nanoseconds`.
CUresult busy_wait(const Memory&, const Grid&, unsigned long long nanoseconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(nanoseconds);
    while (std::chrono::steady_clock::now() < end) {
    }
    return CUDA_SUCCESS;
}

CUresult nothing(const Memory&, const Grid&) {
    return CUDA_SUCCESS;
}

// Unpacks the parameters of a kernel by the types of its C++ function.
template <auto Function> struct Unpacked;

template <typename... Params, CUresult (*Function)(const Memory&, const Grid&, Params...)>
struct Unpacked<Function> {
    static constexpr std::array<std::size_t, sizeof...(Params)> kSizes = {sizeof(Params)...};

    template <typename Param> static Param load(const void* from) {
        Param value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    template <std::size_t... I> static CUresult call(const Memory& memory, const Grid& grid,
                                                     [[maybe_unused]] const void* const* params,
                                                     std::index_sequence<I...>) {
        return Function(memory, grid, load<Params>(params[I])...);
    }
    static CUresult run(const Memory& memory, const Grid& grid, const void* const* params) {
        return call(memory, grid, params, std::index_sequence_for<Params...>{});
    }
};

template <auto Function> constexpr Kernel kernel(std::string_view name) {
    return {name, Unpacked<Function>::kSizes, Unpacked<Function>::run};
}

constexpr Kernel kKernels[] = {
    kernel<vector_add>("vector_add"),
    kernel<gemm_bias<false>>("mlp_gemm_bias"),
    kernel<gemm_bias<true>>("mlp_gemm_bias_relu"),
    kernel<softmax>("softmax"),
    kernel<busy_wait>("busy_wait"),
    kernel<nothing>("nothing"),
};

// The limits of every device since compute capability 3.0.
bool can_run(const Grid& grid) {
    return grid.blocks.volume() > 0 && grid.threads.volume() > 0 && grid.threads.volume() <= 1024 &&
           grid.blocks.x <= 0x7fffffff && grid.blocks.y <= 65535 && grid.blocks.z <= 65535 &&
           grid.threads.z <= 64 && grid.shared_bytes <= 227 * 1024;
}

}  // namespace

const Kernel* find_kernel(std::string_view name) {
    const auto found = std::find_if(std::begin(kKernels), std::end(kKernels),
                                    [&](auto& k) { return k.name == name; });
    return found == std::end(kKernels) ? nullptr : found;
}

const Kernel* find_or_make_kernel(std::string_view name) {
    if (const Kernel* known = find_kernel(name)) return known;
    static std::mutex lock;
    static std::map<std::string, Kernel, std::less<>> made;
    std::lock_guard hold(lock);
    const auto entry = made.try_emplace(std::string(name), kernel<nothing>("")).first;
    entry->second.name = entry->first;
    return &entry->second;
}

KernelCall::KernelCall(const Kernel& kernel, const Grid& grid, void** params, void** extra)
    : kernel_(&kernel), grid_(grid) {
    if (!can_run(grid)) return;
    if (kernel.param_sizes.empty())
        valid_ = true;
    else if (params)
        copy_each(params);
    else if (extra)
        copy_buffer(extra);
}

void KernelCall::copy_each(void** params) {
    for (std::size_t i = 0; i < kernel_->param_sizes.size(); ++i) {
        if (!params[i]) return;
        std::memcpy(&values_[i], params[i], kernel_->param_sizes[i]);
    }
    valid_ = true;
}

// extra: {CU_LAUNCH_PARAM_BUFFER_POINTER (1), buffer, CU_LAUNCH_PARAM_BUFFER_SIZE (2), &size,
// CU_LAUNCH_PARAM_END (0)}
void KernelCall::copy_buffer(void** extra) {
    const std::byte* buffer = nullptr;
    std::size_t size = 0;
    for (; *extra; extra += 2) {
        if (reinterpret_cast<std::uintptr_t>(*extra) == 1)
            buffer = static_cast<std::byte*>(extra[1]);
        if (reinterpret_cast<std::uintptr_t>(*extra) == 2)
            std::memcpy(&size, extra[1], sizeof size);
    }
    std::size_t offset = 0;
    for (std::size_t i = 0; buffer && i < kernel_->param_sizes.size(); ++i) {
        const std::size_t bytes = kernel_->param_sizes[i];
        offset = (offset + bytes - 1) / bytes * bytes;
        if (offset + bytes > size) return;
        std::memcpy(&values_[i], buffer + offset, bytes);
        offset += bytes;
    }
    valid_ = buffer != nullptr;
}

CUresult KernelCall::run(const Memory& memory) const {
    std::array<const void*, kMaxParams> params{};
    for (std::size_t i = 0; i < values_.size(); ++i) params[i] = &values_[i];
    return kernel_->run(memory, grid_, params.data());
}

}  // namespace cuda_sim
