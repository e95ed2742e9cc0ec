// What the kernel's structures are known from: its BTF, or a tree of headers. Rules ask for them by
// `task`, templates by `#include <linux/sched.h>` and the like.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "kernel/struct_text.h"
#include "load/frontend.h"

namespace mlbcc::load {
namespace {

constexpr std::string_view kInclude = "#include <";

// Calls visit(line, with its newline) in order.
template <class Visit> void for_each_line(std::string_view text, Visit visit) {
    while (!text.empty()) {
        const size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
        visit(text.substr(0, size));
        text.remove_prefix(size);
    }
}

bool is_there(const std::string& path) {
    std::error_code code;
    return std::filesystem::is_regular_file(path, code);
}

}  // namespace

// Of a header that neither our own tree has nor libbcc.
bool Frontend::includes_kernel(std::string_view line) const {
    if (!line.starts_with(kInclude)) return false;
    line.remove_prefix(kInclude.size());
    const std::string name(line.substr(0, line.find('>')));
    if (name.starts_with("bcc/")) return false;
    for (const char* folder : {"include", "include/uapi", "arch/x86/include"}) {
        if (is_there(fmt::format("{}/{}/{}", kernel_dir, folder, name))) return false;
    }
    return true;
}

std::vector<rules::ProbeDefinition*> Frontend::including_definitions() {
    std::vector<rules::ProbeDefinition*> found;
    for (const rules::ProbeDefinition* one : wanted_definitions()) {
        bool includes = false;
        for_each_line(one->programs_text,
                      [&](std::string_view line) { includes |= includes_kernel(line); });
        if (includes)
            found.push_back(
                &rules.definitions[static_cast<size_t>(one - rules.definitions.data())]);
    }
    return found;
}

// In place of the headers, the structures and fields that these templates name. The first of them
// that is compiled brings them along.
Result<void> Frontend::give_structures(const std::vector<rules::ProbeDefinition*>& definitions) {
    std::string all, everything;
    for (const auto& [name, text] : templates_) everything += text;
    for (const rules::ProbeDefinition* one : definitions) all += one->fields + one->programs_text;
    Result<kernel::KernelBtf> btf = kernel::KernelBtf::open();
    if (!btf) return btf.error();
    auto own = kernel::defined_structs(everything);
    own.insert("pt_regs");
    const Result<std::string> structs = kernel::struct_text(*btf, all, own);
    if (!structs) return structs.error();
    for (rules::ProbeDefinition* one : definitions) {
        std::string text;
        for_each_line(one->programs_text,
                      [&](std::string_view line) { text += includes_kernel(line) ? "\n" : line; });
        one->programs_text = text;
        one->structures = fmt::format(
            "#ifndef MLBCC_STRUCTURES\n#define MLBCC_STRUCTURES\n#line 1 \"the kernel's types\"\n"
            "#include <mlbcc/constants.h>\n{}#endif\n",
            *structs);
    }
    return {};
}

// The kernel's own headers come as an archive, which is unpacked as long as this is there.
Result<void> Frontend::unpack_archive() {
    kernel::KernelHeaders& used = structures->headers;
    if (used.kind != kernel::HeaderKind::archive) return {};
    Result<kernel::UnpackedHeaders> unpacked = kernel::UnpackedHeaders::unpack(used.path);
    if (!unpacked) return unpacked.error();
    unpacked_.emplace(std::move(*unpacked));
    used.roots = {unpacked_->path()};
    return {};
}

void Frontend::use_real_headers() {
    const kernel::KernelHeaders& used = structures->headers;
    kernel_dir = used.roots.back();
    for (const std::string& folder : kernel::include_folders(used)) {
        kernel_flags.push_back("-I" + folder);
    }
}

// Before resolve(): whoever is given types there keeps them.
Result<void> Frontend::choose_structures() {
    task_words_ = rules::task_words(rules);
    const std::vector<rules::ProbeDefinition*> including = including_definitions();
    templates_read_ = !including.empty();
    const bool is_needed = task_words_.names_task || templates_read_;
    const bool is_asked_for = options_.headers != "auto";
    if (!is_needed && !is_asked_for) return {};
    const kernel::HeaderPlaces places = kernel::HeaderPlaces::current();
    Result<kernel::HeaderChoice> chosen = kernel::choose_headers(options_.headers, places);
    if (!chosen) {
        types.set_task(chosen.error());  // a parameter may be meant
        return is_asked_for || templates_read_ ? Result<void>(chosen.error()) : Result<void>();
    }
    structures = std::move(*chosen);
    const kernel::KernelHeaders& used = structures->headers;
    if (!used.matches) {
        diagnostics.warning({},
                            fmt::format("the headers in {} are of {}, and the running kernel is {}",
                                        used.path, used.version, places.release));
    }
    if (!is_needed) return {};
    if (used.kind == kernel::HeaderKind::btf) {
        return templates_read_ ? give_structures(including) : Result<void>();
    }
    if (auto done = unpack_archive(); !done) return done;
    if (templates_read_) use_real_headers();
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
    request.include_dirs = kernel::include_folders(structures->headers);
    request.system_dirs = {libc_dir_};
    request.names = {rules::kTaskPrototype};
    const Result<std::string> json = compiler->types(request);
    if (!json) return json.error();
    return rules::read_task(*json, types);
}

}  // namespace mlbcc::load
