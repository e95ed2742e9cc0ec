#include "files/install_paths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>

#include "base/as_caller.h"
#include "files/paths.h"
#include "text/diagnostic.h"

namespace mlbcc::files {

namespace {

constexpr std::string_view kHelper = "mlbcc-bcc";
constexpr std::string_view kRulesSuffix = ".rules";

bool is_folder(const std::string& path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// A pipe is one too: --rules <(generate).
bool is_file(const std::string& path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

std::string running_folder() {
    std::array<char, PATH_MAX> text;
    const ssize_t length = readlink("/proc/self/exe", text.data(), text.size());
    if (length <= 0) return {};
    const std::string_view path(text.data(), static_cast<size_t>(length));
    return std::string(path.substr(0, path.rfind('/')));
}

Error not_found(std::string_view what, const std::vector<std::string>& places, std::string help) {
    return {fmt::format("{} was not found; searched {}", what, fmt::join(places, ", ")), 0,
            std::move(help)};
}

}  // namespace

// Root's HOME may be another's, under sudo.
std::string cache_folder() {
    const char* asked = std::getenv("MLBCC_CACHE");
    if (asked != nullptr && *asked == '/') return asked;
    if (::geteuid() == 0) return "/var/cache/mlbcc";
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache == '/') return std::string(cache) + "/mlbcc";
    const char* home = std::getenv("HOME");
    return home != nullptr && *home == '/' ? std::string(home) + "/.cache/mlbcc" : "";
}

InstallHints InstallHints::current(std::optional<std::string> templates) {
    const char* variable = std::getenv("MLBCC_TEMPLATES");
    InstallHints hints{
        running_folder(), std::move(templates), variable == nullptr ? "" : variable, {}, {}};
    if (hints.executable_folder == MLBCC_BINARY_DIR) {
        hints.source_folder = MLBCC_SOURCE_DIR;
        hints.build_folder = MLBCC_BINARY_DIR;
    }
    return hints;
}

// "rules" -> /usr/bin/../share/mlbcc/rules and /src/mlbcc/rules.
std::vector<std::string> InstallPaths::bundled(std::string_view kind) const {
    std::vector<std::string> places{
        fmt::format("{}/../share/mlbcc/{}", hints_.executable_folder, kind)};
    if (!hints_.source_folder.empty())
        places.push_back(fmt::format("{}/{}", hints_.source_folder, kind));
    return places;
}

Result<std::vector<std::string>> InstallPaths::template_folders() const {
    std::vector<std::string> places = bundled("probe_templates");
    if (!hints_.templates_variable.empty()) {
        places.insert(places.begin(), hints_.templates_variable);
    }
    std::vector<std::string> folders;
    for (const std::string& place : places) {
        if (!is_folder(place)) continue;
        folders.push_back(canonical_path("", place).value_or(place));
        break;
    }
    if (folders.empty()) {
        return not_found("the folder of probe templates", places, "set MLBCC_TEMPLATES to it");
    }
    if (!hints_.templates) return folders;
    if (!is_folder(*hints_.templates)) {
        return Error{
            fmt::format("--templates {}: there is no such folder", *hints_.templates), 0, {}};
    }
    folders.push_back(canonical_path("", *hints_.templates).value_or(*hints_.templates));
    return folders;
}

Result<std::string> InstallPaths::compiler() const {
    std::vector<std::string> places{
        fmt::format("{}/{}", hints_.executable_folder, kHelper),
        fmt::format("{}/../libexec/mlbcc/{}", hints_.executable_folder, kHelper),
    };
    if (!hints_.build_folder.empty())
        places.push_back(fmt::format("{}/{}", hints_.build_folder, kHelper));
    for (const std::string& place : places) {
        if (is_file(place) && access(place.c_str(), X_OK) == 0) {
            return canonical_path("", place).value_or(place);
        }
    }
    return not_found(fmt::format("the program {}", kHelper), places, "install mlbcc again");
}

std::vector<std::string> InstallPaths::rules_folders() const {
    std::vector<std::string> folders;
    for (const std::string& place : bundled("rules")) {
        if (is_folder(place)) folders.push_back(canonical_path("", place).value_or(place));
    }
    return folders;
}

std::vector<std::string> InstallPaths::bundled_names() const {
    std::vector<std::string> names;
    for (const std::string& folder : rules_folders()) {
        for (const std::string& file : expand_glob("", folder + "/*" + std::string(kRulesSuffix))) {
            const std::string name = file.substr(file.rfind('/') + 1);
            names.push_back(name.substr(0, name.size() - kRulesSuffix.size()));
        }
    }
    return names;
}

Result<std::string> InstallPaths::find_rules_file(std::string_view name,
                                                  std::string_view directory) const {
    const std::string path = join_path(directory == "." ? "" : directory, name);
    const bool is_path = name.find('/') != std::string_view::npos;
    const bool may_be_path = is_path || name.ends_with(kRulesSuffix);
    if (may_be_path && is_file(path)) return path;
    struct stat status;
    if (may_be_path && stat(path.c_str(), &status) != 0 && errno == EACCES)
        return system_error("cannot open " + path, help_for_denied());
    std::vector<std::string> places;
    if (may_be_path) places.push_back(path);
    for (const std::string& folder : is_path ? std::vector<std::string>() : bundled("rules")) {
        std::string file = join_path(folder, name);
        if (!file.ends_with(kRulesSuffix)) file += kRulesSuffix;
        if (is_file(file)) return canonical_path("", file).value_or(file);
        places.push_back(std::move(file));
    }
    if (!may_be_path && is_file(path)) {
        return Error{fmt::format("`{}` is no bundled rule file", name), 0,
                     fmt::format("there is a file of that name: `./{}` is its path", name)};
    }
    if (is_folder(path)) return Error{fmt::format("{} is a directory, not a file", path), 0, {}};
    const auto near = closest_name(name, bundled_names());
    return not_found(
        fmt::format("rule file `{}`", name), places,
        near ? fmt::format("did you mean `{}`? `mlbcc rules` lists what is bundled", *near)
             : "give the path of a rule file, or a name that `mlbcc rules` lists");
}

}  // namespace mlbcc::files
