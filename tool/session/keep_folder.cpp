#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/as_caller.h"
#include "base/unique_fd.h"
#include "base/write_all.h"
#include "files/trusted_files.h"
#include "session/keep.h"
#include "text/tell.h"

namespace mlbcc::session {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReadme = "README.txt";
constexpr std::string_view kTitle = "Kept by mlbcc for a bug report:\n";
constexpr size_t kMaxReadme = 1u << 20;

// "rules/0-my.rules" -> the folder's descriptor and "0-my.rules". Whoever else may write to the
// folder cannot lead anything out of it: no link is followed.
struct Place {
    UniqueFd folder;
    std::string name;
};
Result<Place> place_of(const std::string& path, const std::string& name, bool make) {
    UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return system_error("cannot open the folder " + path);
    size_t slash = name.find('/');
    if (slash == std::string::npos) return Place{std::move(folder), name};
    const std::string inner = name.substr(0, slash);
    if (make) (void)::mkdirat(folder.get(), inner.c_str(), 0755);
    UniqueFd below(
        ::openat(folder.get(), inner.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!below) return system_error(fmt::format("cannot open the folder {}/{}", path, inner));
    return Place{std::move(below), name.substr(slash + 1)};
}

// The names that a README.txt of ours lists: "  plan.txt   what it is".
std::set<std::string> names_in(std::string_view readme) {
    std::set<std::string> names{kReadme};
    if (!readme.starts_with(kTitle)) return {};
    while (!readme.empty()) {
        std::string_view line = readme.substr(0, readme.find('\n'));
        readme.remove_prefix(std::min(line.size() + 1, readme.size()));
        if (!line.starts_with("  ")) continue;
        line.remove_prefix(2);
        std::string name(line.substr(0, line.find(' ')));
        bool is_below = std::ranges::count(name, '/') <= 1 && name.find("..") == std::string::npos;
        if (is_below && !name.empty()) names.insert(std::move(name));
    }
    return names;
}

std::set<std::string> files_in(const std::string& path, std::error_code& code) {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(path, code)) {
        std::error_code ignored;
        if (fs::is_directory(entry.symlink_status(ignored))) continue;
        names.insert(entry.path().lexically_relative(path).string());
    }
    return names;
}

Result<void> clear(const std::string& path) {
    std::error_code code;
    const std::set<std::string> there = files_in(path, code);
    if (code) return Error{"cannot read the folder " + path, code.value(), {}};
    if (there.empty()) return {};
    auto readme = files::TrustedFiles::current().read(path + "/" + kReadme, kMaxReadme);
    const std::set<std::string> ours = readme ? names_in(*readme) : std::set<std::string>{};
    for (const std::string& name : there) {
        if (ours.contains(name)) continue;
        return Error{fmt::format("--keep {}: the folder holds {}, which mlbcc has not put there",
                                 path, name),
                     0, "name a folder that is empty, or not there yet"};
    }
    for (const std::string& name : there) {
        auto place = place_of(path, name, false);
        if (!place) return place.error();
        if (::unlinkat(place->folder.get(), place->name.c_str(), 0) != 0)
            return system_error(fmt::format("cannot remove {}/{}", path, name));
    }
    return {};
}

}  // namespace

Result<KeepFolder> KeepFolder::open(const std::string& path) {
    const Result<AsCaller> as_caller = AsCaller::begin();
    if (!as_caller) return as_caller.error();
    std::error_code code;
    fs::create_directories(path, code);
    if (code) return Error{"cannot make the folder --keep " + path, code.value(), {}};
    if (auto done = clear(path); !done) return done.error();
    return KeepFolder(path);
}

void KeepFolder::add(const std::string& name, const std::string& what, std::string_view text) {
    write(name, text);
    files_.emplace_back(name, what);
}

void KeepFolder::write(const std::string& name, std::string_view text) {
    const auto failed = [&] { tell(system_error(fmt::format("cannot write {}/{}", path_, name))); };
    const Result<AsCaller> as_caller = AsCaller::begin();
    auto place = as_caller ? place_of(path_, name, true) : Result<Place>(as_caller.error());
    if (!place) {
        tell(place.error());
        return;
    }
    UniqueFd file(::openat(place->folder.get(), place->name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file) return failed();
    if (!write_all(file.get(), text)) failed();
}

void KeepFolder::finish() {
    std::string text(kTitle);
    size_t width = 0;
    for (const auto& [name, what] : files_) width = std::max(width, name.size());
    for (const auto& [name, what] : files_)
        text += fmt::format("  {:<{}}  {}\n", name, width, what);
    text += "Read them before you pass them on: rules, the command and paths are in "
            "them.\nOf the environment there are the names only.\n";
    write(kReadme, text);
}

}  // namespace mlbcc::session
