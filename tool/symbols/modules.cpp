#include "symbols/modules.h"

#include <fmt/format.h>
#include <sys/auxv.h>

#include "base/living_thread.h"
#include "base/open_file.h"
#include "base/read_file.h"

namespace mlbcc::symbols {
namespace {

std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

// The kernel's helper library is the same in every process, ours included.
std::span<const std::byte> own_vdso() {
    uint64_t start = ::getauxval(AT_SYSINFO_EHDR);
    Result<std::string> text = read_file("/proc/self/maps", 64 << 20);
    if (start == 0 || !text) return {};
    std::vector<CodeMapping> maps = code_mappings(*text);
    const CodeMapping* mapping = find_mapping(maps, start);
    if (mapping == nullptr) return {};
    return {reinterpret_cast<const std::byte*>(start), mapping->end - mapping->start};
}

}  // namespace

std::string Modules::proc_path(uint32_t pid, const char* name) const {
    return fmt::format("{}/{}/{}", roots_.proc, living_thread(roots_.proc, static_cast<int>(pid)),
                       name);
}

Module& Modules::of(uint32_t pid, CodeMapping& mapping) {
    if (mapping.module != nullptr) return *mapping.module;
    std::string key = fmt::format("{}:{} {} {}", mapping.device_major, mapping.device_minor,
                                  mapping.inode, mapping.path);
    std::unique_ptr<Module>& module = modules_[key];
    if (!module) {
        module = std::make_unique<Module>();
        module->name = last_part(mapping.path);
    }
    // What cannot be read through one process may be through another.
    if (!module->was_read) read(*module, pid, mapping);
    mapping.module = module.get();
    return *module;
}

void Modules::read(Module& module, uint32_t pid, const Mapping& mapping) const {
    if (mapping.path == "[vdso]") {
        module.symbols = ElfSymbols::read(own_vdso());
        module.cfi = Cfi::read(own_vdso());
        module.was_read = true;
        return;
    }
    UniqueFd fd = mapping.is_file() ? open(pid, mapping) : UniqueFd();
    if (!fd) return;
    std::string folder = mapping.path.substr(0, mapping.path.rfind('/'));
    module.symbols =
        ElfSymbols::read(fd.get(), {roots_.debug, folder, {proc_path(pid, "root"), ""}});
    module.cfi = Cfi::read(fd.get());
    module.was_read = true;
    if (module.symbols && !module.symbols->soname().empty()) module.name = module.symbols->soname();
}

// The mapped file itself, where the kernel gives it (CAP_CHECKPOINT_RESTORE); or what the process
// sees by its path; or, where the process has ended, what was seen where it ran, or what we see.
UniqueFd Modules::open(uint32_t pid, const Mapping& mapping) const {
    const std::string candidates[] = {
        fmt::format("{}/{:x}-{:x}", proc_path(pid, "map_files"), mapping.start, mapping.end),
        proc_path(pid, "root") + mapping.path,
        mapping.path,
    };
    for (const std::string& path : candidates) {
        Result<UniqueFd> file = open_file(path);
        if (file && is_mapped_from(file->get(), mapping)) return std::move(*file);
    }
    return held_.open(mapping);
}

}  // namespace mlbcc::symbols
