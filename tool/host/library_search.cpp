#include "host/library_search.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/open_file.h"
#include "base/read_file.h"
#include "elf/elf_file.h"
#include "files/paths.h"
#include "text/diagnostic.h"
#include "text/glob.h"

namespace mlbcc::host {

namespace {

constexpr const char* kCachePath = "/etc/ld.so.cache";
constexpr size_t kMaxCacheBytes = 64 << 20;
constexpr size_t kMaxSimilar = 3;

bool is_executable_file(const std::string& path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_mode & 0111) != 0;
}

std::string joined(const std::vector<std::string>& items) {
    return fmt::format("{}", fmt::join(items, ":"));
}

// "libcuda.so.1" -> "libcuda.so"; a name without ".so" as it is.
std::string_view without_version(std::string_view soname) {
    const size_t at = soname.find(".so");
    return at == std::string_view::npos ? soname : soname.substr(0, at + 3);
}

// "libcuda.so.1" -> "cuda"
std::string_view stem_of(std::string_view soname) {
    if (soname.starts_with("lib")) soname.remove_prefix(3);
    return soname.substr(0, soname.find(".so"));
}

}  // namespace

LibrarySearcher::LibrarySearcher(process::ProcessView view, std::string machine)
    : view_(std::move(view)), machine_(std::move(machine)) {}

target::LibrarySearch LibrarySearcher::find(std::string_view written, std::string_view directory) {
    Found found;
    const std::optional<std::string> whole = expanded(view_, written);
    if (!whole) {
        found.searched.push_back(fmt::format("{} (there is no such variable)", written));
        return found;
    }
    const std::string_view name = *whole;
    if (name.find('/') != std::string_view::npos) {
        find_path(name, directory, found);
    } else {
        find_soname(name, found);
        const bool may_be_program = name.find(".so") == std::string_view::npos;
        if (found.paths.empty() && may_be_program) find_program(name, found);
        if (found.paths.empty()) add_similar(name, found);
    }
    for (std::string& path : found.paths) path = shortest_path(path);
    return found;
}

// What a process has below its own root may be a file that we have by the same path.
std::string LibrarySearcher::shortest_path(const std::string& path) const {
    if (view_.root.empty() || !path.starts_with(view_.root)) return path;
    std::string ours = path.substr(view_.root.size());
    return files::file_id(ours) == files::file_id(path) ? ours : path;
}

// An absolute path is the process's, else ours; a relative one is always ours.
std::vector<WatchedPlace> LibrarySearcher::places_of_path(std::string_view path,
                                                          std::string_view directory) const {
    const bool is_absolute = path.starts_with('/');
    while (path.starts_with("./")) path.remove_prefix(2);
    const std::string folder = files::join_path(files::working_folder(), directory);
    const std::string plain = files::join_path(folder, path);
    // Folders and files may be called what would be a pattern.
    const auto pattern_in = [&](const std::string& root) {
        if (is_glob(plain) && files::canonical_path(root, plain)) return escaped_glob(plain);
        return files::join_path(is_glob(folder) ? escaped_glob(folder) : folder, path);
    };
    std::vector<WatchedPlace> places;
    if (!view_.root.empty() && is_absolute) places.push_back({view_.root, pattern_in(view_.root)});
    places.push_back({"", pattern_in("")});
    return places;
}

std::vector<WatchedPlace> LibrarySearcher::places(std::string_view written,
                                                  std::string_view directory, bool anywhere) const {
    const std::optional<std::string> whole = expanded(view_, written);
    if (!whole) return {};
    const std::string_view name = *whole;
    if (name.find('/') != std::string_view::npos) return places_of_path(name, directory);
    std::vector<WatchedPlace> places;
    if (anywhere) places.push_back({view_.root, std::string(name)});
    for (const std::string& folder : view_.library_path) {
        places.push_back({view_.root, files::join_path(folder, name)});
    }
    for (const std::string& folder : default_folders()) {
        places.push_back({view_.root, files::join_path(folder, name)});
    }
    if (name.find(".so") != std::string_view::npos) return places;
    for (const std::string& folder : view_.path) {
        if (!files::canonical_path(view_.root, folder)) continue;
        places.push_back({view_.root, files::join_path(folder, name)});
    }
    return places;
}

void LibrarySearcher::find_path(std::string_view path, std::string_view directory,
                                Found& found) const {
    for (const auto& [root, full] : places_of_path(path, directory)) {
        if (is_glob(full)) {
            for (const std::string& each : files::expand_glob(root, full))
                add_if_usable(each, found);
        } else if (auto real = files::canonical_path(root, full)) {
            found.paths.push_back(std::move(*real));
        }
        add_running(full, found);
        if (!found.paths.empty()) return;
        found.searched.push_back(root + full);
    }
}

// What a process has mapped from there, where another file has its place by now: an upgrade renames
// the new one over it.
void LibrarySearcher::add_running(const std::string& full, Found& found) const {
    const std::optional<std::string> real = files::canonical_path(view_.root, full);
    for (const Mapping& mapping : view_.mapped) {
        const bool is_its =
            glob_match(full, mapping.path) || (real && view_.root + mapping.path == *real);
        if (!is_its) continue;
        std::string path = process::path_of_mapping(view_, mapping);
        const bool is_known = std::ranges::find(found.paths, path) != found.paths.end();
        if (!is_known && elf::elf_machine(path) == machine_) found.paths.push_back(std::move(path));
    }
}

void LibrarySearcher::find_soname(std::string_view name, Found& found) {
    const bool is_done_early = !is_glob(name);
    const auto done = [&] { return is_done_early && !found.paths.empty(); };
    find_mapped(name, found);
    if (done()) return;
    for (const std::string& folder : view_.library_path) {
        find_in_folder(folder, name, " (LD_LIBRARY_PATH)", found);
        if (done()) return;
    }
    find_in_cache(name, found);
    if (done()) return;
    for (const std::string& folder : default_folders()) {
        find_in_folder(folder, name, "", found);
        if (done()) return;
    }
}

void LibrarySearcher::find_mapped(std::string_view name, Found& found) {
    if (view_.pid == 0) return;
    for (const MappedFile& file : mapped_files()) {
        if (!glob_match(name, file.name) && !glob_match(name, file.soname)) continue;
        found.paths.push_back(file.path);
    }
    found.searched.push_back(fmt::format("the files that process {} has mapped", view_.pid));
}

// The copies for better processors count too: which of them the loader takes depends on the
// machine.
void LibrarySearcher::find_in_folder(const std::string& folder, std::string_view name,
                                     std::string_view why, Found& found) const {
    found.searched.push_back(fmt::format("{}{}{}", view_.root, folder, why));
    const std::string path = files::join_path(folder, name);
    if (is_glob(name)) {
        for (const std::string& each : files::expand_glob(view_.root, path))
            add_if_usable(each, found);
        return;
    }
    if (const auto real = files::canonical_path(view_.root, path)) add_if_usable(*real, found);
    const std::string better = files::join_path(folder, "glibc-hwcaps/*/" + std::string(name));
    for (const std::string& each : files::expand_glob(view_.root, better))
        add_if_usable(each, found);
}

void LibrarySearcher::find_in_cache(std::string_view name, Found& found) {
    found.searched.push_back(view_.root + kCachePath);
    std::set<std::pair<std::string, uint64_t>> seen;
    for (const elf::CachedLibrary& library : cache()) {
        if (!glob_match(name, library.soname)) continue;
        if (!seen.emplace(library.soname, library.hwcap).second) continue;
        if (const auto real = files::canonical_path(view_.root, library.path))
            add_if_usable(*real, found);
    }
}

// The first folder that has the program is where it runs from: if it is a script there, a program
// further on would be the wrong one.
void LibrarySearcher::find_program(std::string_view name, Found& found) const {
    if (view_.path.empty()) return;
    found.searched.push_back(fmt::format("programs in PATH ({})", joined(view_.path)));
    for (const std::string& folder : view_.path) {
        std::vector<std::string> programs =
            files::expand_glob(view_.root, files::join_path(folder, name));
        std::erase_if(programs, [](const std::string& path) { return !is_executable_file(path); });
        for (const std::string& path : programs) add_if_usable(path, found);
        if (!programs.empty()) return;
    }
}

// Any file may match a glob, and the loader passes over libraries for other machines: what cannot
// be traced is not found, and the message says why.
void LibrarySearcher::add_if_usable(const std::string& path, Found& found) const {
    const std::optional<std::string> machine = elf::elf_machine(path);
    if (machine == machine_) {
        found.paths.push_back(path);
    } else if (machine) {
        found.searched.push_back(fmt::format("{} (built for {})", path, *machine));
    } else {
        found.searched.push_back(fmt::format("{} (not an ELF program or library)", path));
    }
}

void LibrarySearcher::add_similar(std::string_view name, Found& found) {
    std::vector<std::string> sonames;
    for (const elf::CachedLibrary& library : cache()) sonames.push_back(library.soname);
    for (const std::string& start :
         {std::string(name), std::string(without_version(name)), "lib" + std::string(name)}) {
        for (const std::string& soname : sonames) {
            if (found.similar.size() == kMaxSimilar) return;
            const auto& known = found.similar;
            if (std::find(known.begin(), known.end(), soname) != known.end()) continue;
            if (soname.starts_with(start) && soname != name) found.similar.push_back(soname);
        }
    }
    if (!found.similar.empty()) return;
    // By what is a name in it: of all else sonames have most in common.
    std::vector<std::string> stems;
    for (const std::string& soname : sonames) stems.emplace_back(stem_of(soname));
    const auto closest = closest_name(std::string(stem_of(name)), stems);
    if (!closest) return;
    const auto at = std::ranges::find(stems, *closest);
    found.similar.push_back(sonames[static_cast<size_t>(at - stems.begin())]);
}

const std::vector<elf::CachedLibrary>& LibrarySearcher::cache() {
    if (cache_) return *cache_;
    cache_.emplace();
    const std::string path = view_.root + kCachePath;
    const Result<UniqueFd> file = open_file(path);
    if (!file) return *cache_;
    const Result<std::string> bytes = read_file(file->get(), path, kMaxCacheBytes);
    if (!bytes) return *cache_;
    if (auto libraries = elf::parse_ld_cache(*bytes, machine_)) cache_ = std::move(*libraries);
    return *cache_;
}

const std::vector<LibrarySearcher::MappedFile>& LibrarySearcher::mapped_files() {
    if (mapped_files_) return *mapped_files_;
    mapped_files_.emplace();
    for (const Mapping& mapping : view_.mapped) {
        if (mapping.path.starts_with("/dev/")) continue;
        std::string path = process::path_of_mapping(view_, mapping);
        if (elf::elf_machine(path) != machine_) continue;
        std::string soname = elf::elf_soname(path).value_or("");
        mapped_files_->push_back(
            {std::move(path), std::string(files::file_name(mapping.path)), std::move(soname)});
    }
    return *mapped_files_;
}

std::vector<std::string> LibrarySearcher::default_folders() const {
    const std::string multiarch = machine_ + "-linux-gnu";
    std::vector<std::string> folders;
    std::set<std::string> seen;
    for (const std::string& folder :
         {"/lib/" + multiarch, "/usr/lib/" + multiarch, std::string("/lib64"),
          std::string("/usr/lib64"), std::string("/lib"), std::string("/usr/lib")}) {
        const auto real = files::canonical_path(view_.root, folder);
        if (real && seen.insert(*real).second) folders.push_back(folder);
    }
    return folders;
}

}  // namespace mlbcc::host
