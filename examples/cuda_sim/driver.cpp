#include "driver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "entry.h"

namespace cuda_sim {

unsigned cuda_sim_state = 0;

namespace {

constexpr std::size_t kDefaultCapacity = std::size_t{8} << 30;

// CUDA_SIM_MEMORY=1073741824, or 512M, 8G: the size of the device's memory.
std::size_t capacity_from_environment() {
    const char* text = std::getenv("CUDA_SIM_MEMORY");
    if (!text) return kDefaultCapacity;
    char* unit = nullptr;
    const unsigned long long number = std::strtoull(text, &unit, 10);
    switch (*unit) {
    case '\0': return number ? number : kDefaultCapacity;
    case 'K': return number << 10;
    case 'M': return number << 20;
    case 'G': return number << 30;
    default:
        std::fprintf(stderr,
                     "cuda_sim: CUDA_SIM_MEMORY=%s is not a number of bytes, K, M or G; using 8G\n",
                     text);
        return kDefaultCapacity;
    }
}

// CUDA_SIM_DEVICES=4: how many devices there are.
int devices_from_environment() {
    const char* text = std::getenv("CUDA_SIM_DEVICES");
    if (!text) return 1;
    const int number = std::atoi(text);
    if (number >= 1 && number <= kMaxDevices) return number;
    std::fprintf(stderr, "cuda_sim: CUDA_SIM_DEVICES=%s is not a number from 1 to %d; using 1\n",
                 text, kMaxDevices);
    return 1;
}

__attribute__((constructor)) void announce() {
    if (!std::getenv("CUDA_SIM_QUIET"))
        std::fputs("cuda_sim: this libcuda.so.1 is a simulation; no GPU is used (CUDA_SIM_QUIET=1 "
                   "hides this)\n",
                   stderr);
}

__attribute__((destructor)) void shut_down() {
    cuda_sim_state = kShutDown;
    driver().control.stop();
    const char* path = std::getenv("CUDA_SIM_BOOKS");
    if (path && !driver().books.write(path))
        std::fprintf(stderr, "cuda_sim: cannot write the books to %s\n", path);
}

}  // namespace

// Writes the books as they are now; 0, or 1 if it cannot. For tests; not of the driver API.
extern "C" __attribute__((visibility("default"))) int cuda_sim_write_books(const char* path) {
    return driver().books.write(path) ? 0 : 1;
}

Driver::Driver()
    : memory(books, control, capacity_from_environment()), virtual_memory(memory),
      device_count(devices_from_environment()) {
    books.set_devices(device_count);
    for (int i = 0; i < device_count; ++i) {
        Device& device = devices[static_cast<std::size_t>(i)];
        device.default_pool = pools.add();
        device.default_pool->device = i;
        device.current_pool = device.default_pool;
    }
}

Driver& driver() {
    // Never destroyed: threads of the program may still call while the process exits.
    static Driver& instance = *std::make_unique<Driver>().release();
    return instance;
}

void count_call(Symbol symbol) {
    driver().books.called(symbol);
}

void count_failure(Symbol symbol) {
    driver().books.failed(symbol);
}

CUresult initialized() {
    return driver().is_initialized ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult context_ready() {
    if (CUresult error = initialized()) return error;
    const CUcontext context = current_context();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    return driver().contexts.has(context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult device_ready(CUdevice device) {
    if (CUresult error = initialized()) return error;
    return device >= 0 && device < driver().device_count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

std::vector<CUcontext>& context_stack() {
    thread_local std::vector<CUcontext> stack;
    return stack;
}

CUcontext current_context() {
    const auto& stack = context_stack();
    return stack.empty() ? nullptr : stack.back();
}

CUstream find_stream(CUstream handle) {
    Driver& d = driver();
    if (address_of(handle) <= 2 || handle == &d.default_stream) return &d.default_stream;
    return d.streams.has(handle) ? handle : nullptr;
}

void destroy_context(CUcontext context) {
    Driver& d = driver();
    d.memory.release_all([=](const Block& block) {
        return block.context == context && block.family != Family::kMapped;
    });
    d.streams.remove_if([=](const CUstream_st& stream) { return stream.context == context; });
    d.events.remove_if([=](const CUevent_st& event) { return event.context == context; });
    d.functions.remove_if([=](const CUfunc_st& f) { return f.module->context == context; });
    d.modules.remove_if([=](const CUmod_st& module) { return module.context == context; });
    std::erase(context_stack(), context);
    d.control.destroy(context->channel);
    d.contexts.remove(context);
}

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace cuda_sim
