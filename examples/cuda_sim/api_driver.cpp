// Start, versions, names of errors, addresses of functions.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "api.h"
#include "driver.h"
#include "error_names.h"
#include "symbols.h"

namespace cuda_sim::api {
namespace {

// cuMemcpyHtoDAsync_v2_ptsz is form 2 of cuMemcpyHtoDAsync, per thread.
struct Form {
    std::string_view base;
    int version = 1;
    bool per_thread = false;
};

Form form_of(std::string_view symbol) {
    Form form{symbol};
    if (symbol.ends_with("_ptsz") || symbol.ends_with("_ptds")) {
        form.per_thread = true;
        form.base.remove_suffix(5);
    }
    const auto end = form.base.size();
    if (end > 3 && form.base[end - 3] == '_' && form.base[end - 2] == 'v') {
        form.version = form.base[end - 1] - '0';
        form.base.remove_suffix(3);
    }
    return form;
}

struct Answer {
    const Export* best = nullptr;
    bool known = false;  // some form has this name, perhaps a newer one
};

// The newest form of `base` that CUDA `version` had; among equals the per-thread one, if that is
// wanted.
Answer look_up(std::string_view base, int version, bool per_thread) {
    Answer answer;
    Form best;
    for (const Export& candidate : exports()) {
        const Form form = form_of(candidate.name);
        if (form.base != base) continue;
        answer.known = true;
        if (candidate.since > version || (form.per_thread && !per_thread)) continue;
        const bool is_better =
            form.version > best.version || (form.version == best.version && form.per_thread);
        if (answer.best && !is_better) continue;
        answer.best = &candidate;
        best = form;
    }
    return answer;
}

// CUDA_SIM_HIDDEN=cuMemAlloc,cuLaunchKernel: functions of which cuGetProcAddress gives an address
// that is no export, as a driver may that keeps some of its forms to itself.
bool is_hidden(std::string_view base) {
    const char* text = std::getenv("CUDA_SIM_HIDDEN");
    for (std::string_view rest = text ? text : ""; !rest.empty();) {
        const auto end = std::min(rest.find(','), rest.size());
        if (rest.substr(0, end) == base) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

}  // namespace

CUresult not_supported() {
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuInit(unsigned flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    static std::once_flag once;
    std::call_once(once, [] { driver().control.start(); });
    driver().is_initialized = true;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = kDriverVersion;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = error_name(error);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = error_text(error);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
    if (!symbol || !function || version > kDriverVersion || flags > 3)
        return CUDA_ERROR_INVALID_VALUE;
    const Answer answer =
        look_up(symbol, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    *function = !answer.best        ? nullptr
                : is_hidden(symbol) ? inner_address(answer.best->symbol)
                                    : answer.best->address;
    if (status)
        *status = answer.best    ? CU_GET_PROC_ADDRESS_SUCCESS
                  : answer.known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                 : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

// The first form has no status to report in, so it fails.
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
    CUdriverProcAddressQueryResult status;
    if (CUresult error = api::cuGetProcAddress_v2(symbol, function, version, flags, &status))
        return error;
    return status == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuProfilerStart() {
    return context_ready();
}

CUresult cuProfilerStop() {
    return context_ready();
}

}  // namespace cuda_sim::api
