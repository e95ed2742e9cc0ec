#include "load/template_set.h"

#include <cerrno>
#include <filesystem>
#include <utility>

namespace mlbcc::load {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxTemplate = 1u << 20;  // bytes

Result<void> read_folder(const std::string& folder, const std::string& prefix,
                         files::Sources& sources, TemplateSet& out) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        if (!entry.is_regular_file(code) || entry.path().extension() == ".md") continue;
        const std::string path = entry.path().string();
        Result<std::string> text = sources.read(path, kMaxTemplate);
        if (!text) return text.error();
        const std::string name = prefix + entry.path().filename().string();
        out.texts[name] = std::move(*text);
        out.paths[name] = path;
    }
    if (!code) return {};
    errno = code.value();
    return system_error("cannot read the folder " + folder);
}

void find_headers_beside(const std::string& folder, TemplateSet& out) {
    std::error_code code;
    const std::string include = folder + "/include";
    if (fs::is_directory(include + "/kernel", code)) out.kernel_dir = include + "/kernel";
    if (fs::is_regular_file(include + "/task.h", code)) out.task_header = include + "/task.h";
    if (fs::is_directory(include + "/libc", code)) out.libc_dir = include + "/libc";
}

}  // namespace

Result<TemplateSet> read_templates(const std::vector<std::string>& folders,
                                   files::Sources& sources) {
    TemplateSet out;
    for (const std::string& folder : folders) {
        if (auto read = read_folder(folder, "", sources, out); !read) return read.error();
        const std::string probes = folder + "/probes";
        if (fs::is_directory(probes)) {
            if (auto read = read_folder(probes, "probes/", sources, out); !read)
                return read.error();
        }
        if (auto done = sources.admit_tree(folder + "/include"); !done) return done.error();
        find_headers_beside(folder, out);
    }
    return out;
}

std::string TemplateSet::path_of(const std::string& name) const {
    auto found = paths.find(name);
    return found == paths.end() ? name : found->second;
}

Result<std::vector<rules::ProbeDefinition>> TemplateSet::definitions() const {
    std::vector<rules::ProbeDefinition> all;
    for (const auto& [name, text] : texts) {
        if (text.find("//= probe ") == std::string::npos) continue;
        Result<rules::ProbeDefinition> one = codegen::read_definition(name, text);
        if (!one) return one.error();
        all.push_back(std::move(*one));
    }
    return all;
}

}  // namespace mlbcc::load
