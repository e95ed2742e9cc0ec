// Modules and their functions, libraries and their kernels, occupancy.

#include <algorithm>

#include "api.h"
#include "driver.h"
#include "image.h"

namespace cuda_sim::api {
namespace {

// `context` is null for the module of a library.
CUmodule new_module(const Image& image, CUcontext context) {
    Driver& d = driver();
    CUmodule module = d.modules.add();
    module->context = context;
    for (const Kernel* kernel : image) {
        CUfunction function = d.functions.add();
        function->kernel = kernel;
        function->module = module;
        module->functions.push_back(function);
    }
    return module;
}

void unload(CUmodule module) {
    Driver& d = driver();
    for (CUfunction function : module->functions) d.functions.remove(function);
    d.modules.remove(module);
}

// Loads a module of the current context by `load`, parse_image or load_image.
CUresult load_module(CUmodule* module, const char* source, CUresult (*load)(const char*, Image&)) {
    if (CUresult error = context_ready()) return error;
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    Image image;
    if (CUresult error = load(source, image)) return error;
    *module = new_module(image, current_context());
    return CUDA_SUCCESS;
}

CUresult load_library(CUlibrary* library, const char* source,
                      CUresult (*load)(const char*, Image&)) {
    if (CUresult error = initialized()) return error;
    if (!library) return CUDA_ERROR_INVALID_VALUE;
    Image image;
    if (CUresult error = load(source, image)) return error;
    Driver& d = driver();
    *library = d.libraries.add();
    (*library)->module = new_module(image, nullptr);
    for (CUfunction function : (*library)->module->functions) {
        CUkernel kernel = d.kernels.add();
        kernel->function = function;
        (*library)->kernels.push_back(kernel);
    }
    return CUDA_SUCCESS;
}

template <typename T> CUresult known(const Handles<T>& handles, const T* handle, const void* out) {
    if (CUresult error = initialized()) return error;
    if (!handles.has(handle)) return CUDA_ERROR_INVALID_HANDLE;
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

const Kernel* kernel_of(CUfunction function) {
    return function->kernel;
}
const Kernel* kernel_of(CUkernel kernel) {
    return kernel->function->kernel;
}

template <typename T> CUresult find_by_name(const std::vector<T*>& all, const char* name, T** out) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](T* one) { return kernel_of(one)->name == name; });
    if (found == all.end()) return CUDA_ERROR_NOT_FOUND;
    *out = *found;
    return CUDA_SUCCESS;
}

template <typename T> CUresult first_of(const std::vector<T*>& all, unsigned count, T** out) {
    std::copy_n(all.begin(), std::min<std::size_t>(count, all.size()), out);
    return CUDA_SUCCESS;
}

template <typename T> CUresult tell_name(T* handle, const char** name) {
    *name = kernel_of(handle)->name.data();
    return CUDA_SUCCESS;
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* path) {
    return load_module(module, path, load_image);
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    return load_module(module, static_cast<const char*>(image), parse_image);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
    return api::cuModuleLoadData(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
    return api::cuModuleLoadData(module, image);
}

CUresult cuModuleUnload(CUmodule module) {
    if (CUresult error = known(driver().modules, module, module)) return error;
    if (!module->context) return CUDA_ERROR_NOT_PERMITTED;  // a library's; it goes with the library
    unload(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    if (CUresult error = context_ready()) return error;
    if (CUresult error = known(driver().modules, module, function)) return error;
    return find_by_name(module->functions, name, function);
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
    if (CUresult error = known(driver().modules, module, count)) return error;
    *count = static_cast<unsigned>(module->functions.size());
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
    if (CUresult error = known(driver().modules, module, functions)) return error;
    return first_of(module->functions, count, functions);
}

// No image has variables.
CUresult cuModuleGetGlobal(CUdeviceptr*, size_t*, CUmodule module, const char* name) {
    if (CUresult error = known(driver().modules, module, name)) return error;
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
    return load_library(library, static_cast<const char*>(code), parse_image);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*, void**,
                               unsigned, CUlibraryOption*, void**, unsigned) {
    return load_library(library, path, load_image);
}

CUresult cuLibraryUnload(CUlibrary library) {
    Driver& d = driver();
    if (CUresult error = known(d.libraries, library, library)) return error;
    for (CUkernel kernel : library->kernels) d.kernels.remove(kernel);
    unload(library->module);
    d.libraries.remove(library);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
    if (CUresult error = known(driver().libraries, library, kernel)) return error;
    return find_by_name(library->kernels, name, kernel);
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
    if (CUresult error = known(driver().libraries, library, count)) return error;
    *count = static_cast<unsigned>(library->kernels.size());
    return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
    if (CUresult error = known(driver().libraries, library, kernels)) return error;
    return first_of(library->kernels, count, kernels);
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
    if (CUresult error = context_ready()) return error;
    if (CUresult error = known(driver().libraries, library, module)) return error;
    *module = library->module;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    if (CUresult error = context_ready()) return error;
    if (CUresult error = known(driver().kernels, kernel, function)) return error;
    *function = kernel->function;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
    if (CUresult error = known(driver().kernels, kernel, name)) return error;
    return tell_name(kernel, name);
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
    if (CUresult error = known(driver().functions, function, name)) return error;
    return tell_name(function, name);
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
    if (CUresult error = known(driver().functions, function, module)) return error;
    *module = function->module;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
    if (CUresult error = known(driver().functions, function, value)) return error;
    const bool is_dynamic_shared = attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    const bool is_threads = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    *value = is_threads ? 1024 : is_dynamic_shared ? function->max_dynamic_shared.load() : 0;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    if (CUresult error = known(driver().functions, function, function)) return error;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        if (value < 0 || value > 227 << 10) return CUDA_ERROR_INVALID_VALUE;
        function->max_dynamic_shared = value;
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
    return known(driver().functions, function, function);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_size, size_t) {
    if (CUresult error = known(driver().functions, function, blocks)) return error;
    if (block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
    *blocks = block_size > 1024 ? 0 : std::min(32, kThreadsPerMultiprocessor / block_size);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_size, size_t shared,
                                                              unsigned) {
    return api::cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, CUfunction function,
                                          CUoccupancyB2DSize, size_t, int limit) {
    if (CUresult error = known(driver().functions, function, grid_size)) return error;
    if (!block_size) return CUDA_ERROR_INVALID_VALUE;
    *block_size = limit > 0 ? std::min(limit, 1024) : 1024;
    *grid_size = kMultiprocessors * (kThreadsPerMultiprocessor / *block_size);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size,
                                                   CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t shared,
                                                   int limit, unsigned) {
    return api::cuOccupancyMaxPotentialBlockSize(grid_size, block_size, function, shared_of, shared,
                                                 limit);
}

}  // namespace cuda_sim::api
