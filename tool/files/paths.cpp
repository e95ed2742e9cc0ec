#include "files/paths.h"

#include <dirent.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/open_file.h"
#include "text/glob.h"

namespace mlbcc::files {

namespace {

// Takes the first component off: "/usr/lib" -> "usr", leaving "/lib".
std::string take_component(std::string& path) {
    const size_t begin = path.find_first_not_of('/');
    if (begin == std::string::npos) {
        path.clear();
        return {};
    }
    const size_t end = std::min(path.find('/', begin), path.size());
    std::string component = path.substr(begin, end - begin);
    path.erase(0, end);
    return component;
}

std::vector<std::string> entries_of(const std::string& directory) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(directory.c_str()), closedir);
    if (stream == nullptr) return names;
    while (const dirent* entry = readdir(stream.get())) names.emplace_back(entry->d_name);
    std::sort(names.begin(), names.end());
    return names;
}

// Paths below `root`, without it, that `pattern` matches from `directory` on.
void expand(const std::string& root, const std::string& directory, std::string pattern,
            std::vector<std::string>& found) {
    const std::string component = take_component(pattern);
    if (component.empty()) {
        found.push_back(directory);
        return;
    }
    if (!is_glob(component))
        return expand(root, fmt::format("{}/{}", directory, component), pattern, found);
    const std::optional<std::string> real = canonical_path(root, directory + "/");
    if (!real) return;
    for (const std::string& name : entries_of(*real)) {
        if (name.starts_with('.') && !component.starts_with('.')) continue;
        if (name == "." || name == ".." || !glob_match(component, name)) continue;
        expand(root, fmt::format("{}/{}", directory, name), pattern, found);
    }
}

}  // namespace

std::optional<std::string> link_target(const std::string& path) {
    std::array<char, PATH_MAX> text;
    const ssize_t length = readlink(path.c_str(), text.data(), text.size());
    if (length < 0 || length == static_cast<ssize_t>(text.size())) return std::nullopt;
    return std::string(text.data(), static_cast<size_t>(length));
}

std::string join_path(std::string_view directory, std::string_view name) {
    if (name.starts_with('/') || directory.empty()) return std::string(name);
    std::string path(directory);
    if (!path.ends_with('/')) path += '/';
    return path.append(name);
}

std::string working_folder() {
    std::error_code code;
    return std::filesystem::current_path(code).string();
}

std::string_view file_name(std::string_view path) {
    const size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::optional<std::string> canonical_path(const std::string& root, std::string_view path) {
    std::string rest(path), resolved;
    int links = 0;
    while (true) {
        const std::string component = take_component(rest);
        if (component.empty()) break;
        if (component == ".") continue;
        if (component == "..") {
            resolved.erase(std::min(resolved.rfind('/'), resolved.size()));
            continue;
        }
        const std::string next = fmt::format("{}/{}", resolved, component);
        struct stat status;
        if (lstat((root + next).c_str(), &status) != 0) return std::nullopt;
        if (!S_ISLNK(status.st_mode)) {
            resolved = next;
            continue;
        }
        const std::optional<std::string> target = link_target(root + next);
        if (!target || ++links > kMaxLinks) return std::nullopt;
        if (target->starts_with('/')) resolved.clear();
        rest.insert(0, *target);
    }
    return root + (resolved.empty() ? "/" : resolved);
}

std::vector<std::string> expand_glob(const std::string& root, std::string_view pattern) {
    std::vector<std::string> matched, found;
    expand(root, "", std::string(pattern), matched);
    for (const std::string& path : matched) {
        if (auto real = canonical_path(root, path)) found.push_back(std::move(*real));
    }
    return found;
}

// Seen as it would be opened (base/open_file.h).
std::optional<FileId> file_id(const std::string& path) {
    const UniqueFd file = look_at(path);
    struct stat status;
    if (!file || fstat(file.get(), &status) != 0) return std::nullopt;
    return FileId{status.st_dev, status.st_ino};
}

}  // namespace mlbcc::files
