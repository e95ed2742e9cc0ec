#include "python/python.h"

#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/living_thread.h"
#include "elf/elf_image.h"
#include "process/proc.h"
#include "text/tell.h"

namespace mlbcc::python {
namespace {

constexpr uint32_t kMaxCookies = 256;  // python_files
constexpr size_t kMaxNames = 65536;    // remembered

// Where we reach a file of the process, which may lie in a container.
std::string reachable(uint32_t pid, const std::string& path) {
    std::string there = fmt::format("/proc/{}/root{}", living_thread(static_cast<int>(pid)), path);
    std::error_code gone;
    if (!std::filesystem::exists(there, gone)) return path;
    return std::filesystem::equivalent(there, path, gone) ? path : there;
}

}  // namespace

PythonWatch::File* PythonWatch::file(const std::string& path, const std::string& name) {
    std::optional<files::FileId> id = files::file_id(path);
    std::error_code gone;
    auto written = std::filesystem::last_write_time(path, gone);
    if (!id || gone) return nullptr;
    auto found = files_.find({*id, written});
    if (found == files_.end())
        found = files_.emplace(std::pair(*id, written), File{read_python_file(path, name)}).first;
    return &found->second;
}

void PythonWatch::prepare(const std::vector<std::string>& command,
                          const std::vector<std::string>& folders) {
    std::vector<std::string> all = folders;
    if (!command.empty() && command[0].find('/') != std::string::npos) {
        all.insert(all.begin(), std::filesystem::path(command[0]).parent_path().string());
    }
    for (const std::string& path : likely_pythons(all)) watch(path);
}

// A failure only makes it known later.
void PythonWatch::watch(const std::string& path) {
    const File* known = file(path, path);
    bpf::Map* files = kernel_.map(codegen::maps::kPythonFiles);
    int program = kernel_.program("python_starts");
    if (!known || !known->read || !*known->read || files == nullptr || program < 0) return;
    const PythonFile& its = **known->read;
    std::vector<uint64_t> offsets, cookies;
    for (const PythonFile::Start& start : its.starts) {
        if (cookies_ == kMaxCookies) break;
        codegen::Python relative = its.python;
        relative.state -= start.address;
        if (!files->update(&cookies_, &relative)) break;
        offsets.push_back(start.offset);
        cookies.push_back(cookies_++);
    }
    if (offsets.empty()) return;
    auto made = bpf::Attachment::entries(path, program, offsets, cookies);
    if (made) attachments_.push_back(std::move(*made));
}

void PythonWatch::look_at(int pid) {
    auto maps = process::read_maps(pid);
    if (!maps) return;
    for (const Mapping& one : *maps) {
        if (!one.executable || !may_be_python(one.path)) continue;
        found(static_cast<uint32_t>(pid), one.start, one.offset, one.path);
    }
}

void PythonWatch::mapped(uint32_t pid, uint64_t start, uint64_t offset, const std::string& path) {
    if (may_be_python(path) && is_traced(pid)) found(pid, start, offset, path);
}

void PythonWatch::found(uint32_t pid, uint64_t start, uint64_t offset, const std::string& path) {
    std::string reached = reachable(pid, path);
    File* known = file(reached, path);
    if (known == nullptr && gone_.insert(path).second)
        tell_without(pid, path, "it was gone before it could be read");
    if (known != nullptr && !known->read && !std::exchange(known->told, true))
        tell_without(pid, path, known->read.error().message());
    if (known == nullptr || !known->read || !*known->read) return;
    auto image = elf::ElfImage::open(reached);
    auto address = image ? image->address_of(offset, PF_X) : std::nullopt;
    bpf::Map* pythons = kernel_.map(codegen::maps::kPythonSeeds);
    if (pythons == nullptr) pythons = kernel_.map(codegen::maps::kPythons);
    if (!address || pythons == nullptr) return;
    codegen::Python here = (*known->read)->python;
    here.state += start - *address;
    (void)pythons->update(&pid, &here);
}

void PythonWatch::tell_without(uint32_t pid, const std::string& path,
                               const std::string& why) const {
    tell_note(verbosity_, fmt::format("no Python stacks for PID {}: {}: {}", pid, path, why));
}

bool PythonWatch::is_traced(uint32_t pid) const {
    bpf::Map* traced = kernel_.map(codegen::maps::kTraced);
    if (traced == nullptr) return true;  // everyone is
    if (traced->lookup(&pid)) return true;
    bpf::Map* seeds = kernel_.map(codegen::maps::kSeeds);
    return seeds != nullptr && seeds->lookup(&pid).has_value();
}

std::optional<std::string> PythonWatch::name(uint64_t frame) {
    if (auto found = names_.find(frame); found != names_.end()) return found->second;
    bpf::Map* codes = kernel_.map(codegen::maps::kPythonCodes);
    auto bytes = codes != nullptr ? codes->lookup(&frame) : std::nullopt;
    codegen::PythonCode code{};
    if (!bytes || bytes->size() < sizeof code) return std::nullopt;
    std::memcpy(&code, bytes->data(), sizeof code);
    if (names_.size() >= kMaxNames) names_.clear();
    return names_.emplace(frame, frames_.name(code)).first->second;
}

}  // namespace mlbcc::python
