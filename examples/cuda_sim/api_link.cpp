// Linking: images of one kind are put together as they are, which is all that the simulated driver
// needs of them.

#include <cstdio>
#include <memory>

#include "api.h"
#include "driver.h"
#include "image.h"

namespace cuda_sim::api {
namespace {

CUresult known(CUlinkState state) {
    if (CUresult error = initialized()) return error;
    return driver().links.has(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

CUresult cuLinkCreate(unsigned, CUjit_option*, void**, CUlinkState* state) {
    if (CUresult error = context_ready()) return error;
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = driver().links.add();
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType, void* data, size_t size, const char*,
                       unsigned, CUjit_option*, void**) {
    if (CUresult error = known(state)) return error;
    if (!data) return CUDA_ERROR_INVALID_VALUE;
    const std::string text(static_cast<const char*>(data), size);
    Image image;
    if (CUresult error = parse_image(text.c_str(), image)) return error;
    state->text += text.c_str();
    return CUDA_SUCCESS;
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned,
                       CUjit_option*, void**) {
    if (CUresult error = known(state)) return error;
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    std::string text;
    if (CUresult error = read_image(path, text)) return error;
    return api::cuLinkAddData(state, type, text.data(), text.size(), path, 0, nullptr, nullptr);
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* size) {
    if (CUresult error = known(state)) return error;
    if (!image) return CUDA_ERROR_INVALID_VALUE;
    *image = state->text.data();
    if (size) *size = state->text.size() + 1;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
    if (CUresult error = known(state)) return error;
    driver().links.remove(state);
    return CUDA_SUCCESS;
}

}  // namespace cuda_sim::api
