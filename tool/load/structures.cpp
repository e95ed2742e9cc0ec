#include "load/structures.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernel/struct_text.h"
#include "rules/ctypes.h"

namespace mlbcc::load {
namespace {

constexpr std::string_view kInclude = "#include <";
using Definitions = std::vector<const rules::ProbeDefinition*>;

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

// Whether it includes a header that neither our own tree has nor libbcc.
bool includes_kernel(std::string_view line, const TemplateSet& templates) {
    if (!line.starts_with(kInclude)) return false;
    line.remove_prefix(kInclude.size());
    const std::string name(line.substr(0, line.find('>')));
    if (name.starts_with("bcc/")) return false;
    for (const char* folder : {"include", "include/uapi", "arch/x86/include"}) {
        if (is_there(fmt::format("{}/{}/{}", templates.kernel_dir, folder, name))) return false;
    }
    return true;
}

Definitions including_definitions(const rules::RuleSet& rules, const TemplateSet& templates) {
    Definitions found;
    for (const rules::ProbeDefinition* one : used_definitions(rules)) {
        bool includes = false;
        for_each_line(one->programs_text,
                      [&](std::string_view line) { includes |= includes_kernel(line, templates); });
        if (includes) found.push_back(one);
    }
    return found;
}

// In place of the headers, the structures and fields that these templates name. The first of them
// that is compiled brings them along.
Result<codegen::DefinitionTexts> texts_of(const Definitions& definitions,
                                          const TemplateSet& templates) {
    std::string all, everything;
    for (const auto& [name, text] : templates.texts) everything += text;
    for (const rules::ProbeDefinition* one : definitions) all += one->fields + one->programs_text;
    Result<kernel::KernelBtf> btf = kernel::KernelBtf::open();
    if (!btf) return btf.error();
    auto own = kernel::defined_structs(everything);
    own.insert("pt_regs");
    const Result<std::string> structs = kernel::struct_text(*btf, all, own);
    if (!structs) return structs.error();
    codegen::DefinitionTexts texts;
    for (const rules::ProbeDefinition* one : definitions) {
        codegen::DefinitionText& text = texts[one->structure()];
        for_each_line(one->programs_text, [&](std::string_view line) {
            text.programs += includes_kernel(line, templates) ? "\n" : line;
        });
        text.structures = fmt::format(
            "#ifndef MLBCC_STRUCTURES\n#define MLBCC_STRUCTURES\n#line 1 \"the kernel's types\"\n"
            "#include <mlbcc/constants.h>\n{}#endif\n",
            *structs);
    }
    return texts;
}

// The kernel's own headers come as an archive, which is unpacked as long as `out` is there.
Result<void> unpack_archive(Structures& out) {
    kernel::KernelHeaders& used = out.chosen->headers;
    if (used.kind != kernel::HeaderKind::archive) return {};
    Result<kernel::UnpackedHeaders> unpacked = kernel::UnpackedHeaders::unpack(used.path);
    if (!unpacked) return unpacked.error();
    out.unpacked.emplace(std::move(*unpacked));
    used.roots = {out.unpacked->path()};
    return {};
}

void use_real_headers(Structures& out) {
    const kernel::KernelHeaders& used = out.chosen->headers;
    out.kernel_dir = used.roots.back();
    for (const std::string& folder : kernel::include_folders(used))
        out.flags.push_back("-I" + folder);
}

Result<rules::TypeId> task_of_headers(const kernel::KernelHeaders& used,
                                      const TemplateSet& templates, rules::TypeTable& types,
                                      const Reading& reading) {
    bpf::TypesRequest request;
    request.of_kernel = true;
    request.headers = {templates.task_header};
    request.include_dirs = kernel::include_folders(used);
    request.system_dirs = {templates.libc_dir};
    request.names = {rules::kTaskPrototype};
    const Result<std::string> json = reading.compiler.types(std::move(request));
    Result<rules::TypeId> task =
        json ? rules::read_task(*json, types) : Result<rules::TypeId>(json.error());
    if (!task) {
        return Error{fmt::format("the kernel headers in {}: {}", used.path, task.error().message()),
                     0, task.error().help};
    }
    reading.steps.done("the kernel's structures (libclang)");
    return task;
}

void warn_of_another_kernel(const kernel::KernelHeaders& used, const kernel::HeaderPlaces& places,
                            Diagnostics& diagnostics) {
    if (used.matches) return;
    diagnostics.warning({}, fmt::format("the headers in {} are of {}, and the running kernel is {}",
                                        used.path, used.version, places.release));
}

}  // namespace

Result<Structures> choose_structures(const std::string& headers, const rules::RuleSet& rules,
                                     const TemplateSet& templates, host::LiveHost& host,
                                     rules::TypeTable& types, const Reading& reading) {
    Structures out;
    out.kernel_dir = templates.kernel_dir;
    const rules::TaskWords words = rules::task_words(rules);
    const Definitions including = including_definitions(rules, templates);
    out.are_included = !including.empty();
    const bool is_needed = words.names_task || out.are_included;
    const bool is_asked_for = headers != "auto";
    if (!is_needed && !is_asked_for) return out;
    const kernel::HeaderPlaces places = kernel::HeaderPlaces::current();
    Result<kernel::HeaderChoice> chosen = kernel::choose_headers(headers, places);
    if (!chosen) {
        if (is_asked_for || out.are_included) return chosen.error();
        types.set_task(chosen.error());  // a parameter may be meant
        return out;
    }
    out.chosen = std::move(*chosen);
    const kernel::KernelHeaders& used = out.chosen->headers;
    warn_of_another_kernel(used, places, reading.diagnostics);
    if (!is_needed) return out;
    if (used.kind == kernel::HeaderKind::btf) {
        if (out.are_included) {
            Result<codegen::DefinitionTexts> texts = texts_of(including, templates);
            if (!texts) return texts.error();
            out.texts = std::move(*texts);
        }
        types.set_task(host.kernel_task(words.members, types));
        reading.steps.done("the kernel's structures");
        return out;
    }
    if (auto done = unpack_archive(out); !done) return done.error();
    if (out.are_included) use_real_headers(out);
    Result<rules::TypeId> task = task_of_headers(used, templates, types, reading);
    if (!task) return task.error();
    types.set_task(*task);
    return out;
}

}  // namespace mlbcc::load
