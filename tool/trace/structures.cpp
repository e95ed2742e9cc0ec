// What the kernel's structures are known from: its BTF, or a tree of headers.
#include <fmt/format.h>

#include "trace/frontend.h"

namespace mlbcc::trace {

// Before resolve(): whoever is given types there keeps them.
Result<void> Frontend::choose_structures() {
    task_words_ = rules::task_words(rules);
    const bool is_asked_for = options_.headers != "auto";
    if (!task_words_.names_task && !is_asked_for) return {};
    const system::HeaderPlaces places = system::HeaderPlaces::current();
    Result<system::HeaderChoice> chosen = system::choose_headers(options_.headers, places);
    if (!chosen) {
        types.set_task(chosen.error());  // a parameter may be meant
        return is_asked_for ? Result<void>(chosen.error()) : Result<void>();
    }
    structures = std::move(*chosen);
    const system::KernelHeaders& used = structures->headers;
    if (!used.matches) {
        diagnostics.warning({},
                            fmt::format("the headers in {} are of {}, and the running kernel is {}",
                                        used.path, used.version, places.release));
    }
    if (used.kind == system::HeaderKind::btf || !task_words_.names_task) return {};
    Result<rules::TypeId> task = task_of_headers();
    if (!task) {
        return Error{fmt::format("the kernel headers in {}: {}", used.path, task.error().message()),
                     0, task.error().help};
    }
    types.set_task(*task);
    steps_.done("the kernel's structures (libclang)");
    return {};
}

Result<rules::TypeId> Frontend::task_of_headers() {
    bpf::TypesRequest request;
    request.of_kernel = true;
    request.headers = {task_header_};
    request.include_dirs = system::include_folders(structures->headers);
    request.system_dirs = {libc_dir_};
    request.names = {rules::kTaskPrototype};
    const Result<std::string> json = compiler->types(request);
    if (!json) return json.error();
    return rules::read_task(*json, types);
}

}  // namespace mlbcc::trace
