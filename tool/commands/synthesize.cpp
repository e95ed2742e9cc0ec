#include "commands/synthesize.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "bpf/kernel.h"
#include "files/install_paths.h"
#include "files/trusted_files.h"
#include "kernel/kernel_headers.h"

namespace mlbcc::commands {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxList = size_t{1} << 20;

Result<void> write(const fs::path& path, const std::string& text) {
    std::error_code code;
    fs::create_directories(path.parent_path(), code);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    return file ? Result<void>() : system_error("cannot write " + path.string());
}

// Of the folders of templates the last that has it, as elsewhere.
Result<std::string> bundled(const std::string& templates, const std::string& name) {
    const files::InstallPaths paths(files::InstallHints::current(
        templates.empty() ? std::nullopt : std::make_optional(templates)));
    const Result<std::vector<std::string>> folders = paths.template_folders();
    if (!folders) return folders.error();
    for (auto folder = folders->rbegin(); folder != folders->rend(); ++folder) {
        if (fs::exists(*folder + "/" + name)) return *folder + "/" + name;
    }
    return Error{name + " is missing among the templates", 0, "install mlbcc again"};
}

Result<void> copy(const std::string& from, const std::string& to) {
    std::error_code code;
    fs::create_directories(to, code);
    if (!code) {
        fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing,
                 code);
    }
    if (code) return Error{fmt::format("cannot copy {} to {}", from, to), code.value(), {}};
    return {};
}

// What kernels' headers are told by: <linux/version.h>, and the file that this tool looks at.
Result<void> write_version(const fs::path& tree, const std::string& release) {
    int major = 0, minor = 0, patch = 0;
    std::sscanf(release.c_str(), "%d.%d.%d", &major, &minor, &patch);
    const std::string version = fmt::format(
        "#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + ((c) > 255 ? 255 : (c)))\n"
        "#define LINUX_VERSION_CODE KERNEL_VERSION({}, {}, {})\n",
        major, minor, patch);
    for (const char* name : {"include/linux/version.h", "include/uapi/linux/version.h"}) {
        if (auto done = write(tree / name, "#pragma once\n" + version); !done) return done;
    }
    return write(tree / "include/generated/utsrelease.h",
                 fmt::format("#define UTS_RELEASE \"{}\"\n", release));
}

Result<void> write_stubs(const fs::path& tree, const std::string& list) {
    const Result<std::string> names = files::TrustedFiles::current().read(list, kMaxList);
    if (!names) return names.error();
    std::istringstream lines(*names);
    for (std::string name; std::getline(lines, name);) {
        const std::string path = "include/" + name;
        if (auto done = write(tree / path, "#include <mlbcc/vmlinux.h>\n"); !done) return done;
    }
    return {};
}

}  // namespace

Result<void> synthesize_headers(const std::string& folder, const std::string& templates) {
    std::error_code code;
    if (fs::exists(folder, code) && !fs::is_empty(folder, code)) {
        return Error{folder + " is not empty", 0, "name a folder that is not there yet"};
    }
    const Result<std::string> kernel = bundled(templates, "include/kernel");
    const Result<std::string> besides = bundled(templates, "include/synthesized");
    if (!kernel) return kernel.error();
    if (!besides) return besides.error();
    const Result<std::string> types = bpf::kernel_types_text();
    if (!types) return types.error();
    if (auto done = copy(*kernel, folder); !done) return done;
    for (const char* part : {"include", "arch"}) {
        if (auto done = copy(*besides + "/" + part, folder + "/" + part); !done) return done;
    }
    const fs::path tree(folder);
    const std::string release = kernel::HeaderPlaces::current().release;
    if (auto done = write_version(tree, release); !done) return done;
    if (auto done = write_stubs(tree, *besides + "/headers.txt"); !done) return done;
    return write(tree / "include/mlbcc/vmlinux.h",
                 fmt::format("/* All types of Linux {}, from its BTF. */\n#pragma once\n\n{}",
                             release, *types));
}

}  // namespace mlbcc::commands
