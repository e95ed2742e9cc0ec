#include "process/process_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <set>
#include <string_view>
#include <utility>

#include "base/living_thread.h"
#include "base/open_file.h"
#include "base/read_file.h"
#include "files/paths.h"
#include "process/proc.h"

namespace mlbcc::process {

namespace {

constexpr size_t kMaxEnvironment = 64 << 20;  // bytes

std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
    for (const std::string& variable : environment) {
        if (variable.size() <= name.size() || variable[name.size()] != '=') continue;
        if (variable.starts_with(name)) return variable.substr(name.size() + 1);
    }
    return {};
}

// "/opt/a:lib:" in /home/me -> /opt/a, /home/me/lib, /home/me: an empty item is the working folder.
std::vector<std::string> folders(std::string_view list, std::string_view separators,
                                 const std::string& working_directory) {
    std::vector<std::string> found;
    if (list.empty()) return found;
    while (true) {
        const size_t end = std::min(list.find_first_of(separators), list.size());
        const std::string_view item = list.substr(0, end);
        std::string folder =
            item.empty() ? working_directory : files::join_path(working_directory, item);
        if (std::find(found.begin(), found.end(), folder) == found.end()) {
            found.push_back(std::move(folder));
        }
        if (end == list.size()) return found;
        list.remove_prefix(end + 1);
    }
}

std::vector<std::string> split_at_zeros(std::string_view text) {
    std::vector<std::string> items;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\0'), text.size());
        items.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return items;
}

std::string link_text(const std::string& path) {
    std::array<char, PATH_MAX> text;
    const ssize_t length = readlink(path.c_str(), text.data(), text.size());
    return length < 0 ? std::string() : std::string(text.data(), static_cast<size_t>(length));
}

// "" where the process sees the files that we see: the same root in the same mount namespace.
std::string root_of(int pid) {
    const std::string root = fmt::format("/proc/{}/root", pid);
    const bool same_mounts =
        files::file_id(fmt::format("/proc/{}/ns/mnt", pid)) == files::file_id("/proc/self/ns/mnt");
    return same_mounts && files::file_id(root + "/") == files::file_id("/") ? std::string() : root;
}

std::string help_for_absent() {
    const Result<PidNamespace> own = own_pid_namespace();
    if (!own || own->is_initial) return {};
    return "this is a pid namespace of its own: a container sees the machine's processes with "
           "--pid=host";
}

std::vector<Mapping> executable_files(std::vector<Mapping> mappings) {
    std::vector<Mapping> files;
    std::set<std::string> seen;
    for (Mapping& mapping : mappings) {
        if (!mapping.executable || mapping.inode == 0 || !mapping.path.starts_with('/')) continue;
        if (seen.insert(mapping.path).second) files.push_back(std::move(mapping));
    }
    return files;
}

// "python3" -> "/opt/venv/bin", the first folder of PATH that has it; "./app" -> "/home/me".
std::string folder_of_program(const std::string& program, const std::vector<std::string>& path,
                              const std::string& working_directory) {
    if (program.empty()) return {};
    if (const size_t slash = program.rfind('/'); slash != std::string::npos) {
        return files::join_path(working_directory, program.substr(0, std::max<size_t>(slash, 1)));
    }
    const auto found = std::find_if(path.begin(), path.end(), [&](const std::string& folder) {
        return access(files::join_path(folder, program).c_str(), X_OK) == 0;
    });
    return found == path.end() ? std::string() : *found;
}

}  // namespace

ProcessView view_of_command(const std::vector<std::string>& environment,
                            const std::string& working_directory, const std::string& program) {
    ProcessView view;
    view.environment = environment;
    view.library_path = folders(value_of(environment, "LD_LIBRARY_PATH"), ":;", working_directory);
    view.path = folders(value_of(environment, "PATH"), ":", working_directory);
    view.program_folder = folder_of_program(program, view.path, working_directory);
    return view;
}

std::optional<std::string> expanded(const ProcessView& view, std::string_view name) {
    if (!name.starts_with('$')) return std::string(name);
    const size_t end = std::min(name.find('/'), name.size());
    const std::string_view variable = name.substr(1, end - 1);
    std::string value =
        variable == "COMMAND_DIR" ? view.program_folder : value_of(view.environment, variable);
    if (value.empty()) return std::nullopt;
    return value.append(name.substr(end));
}

// Its maps tell who has CAP_PERFMON, too (Linux 6.13); its root does not.
Result<ProcessView> view_of_process(int pid) {
    Result<std::vector<Mapping>> mappings = read_maps(pid);
    const int thread = living_thread(pid);  // that has all of it
    const std::string root = fmt::format("/proc/{}/root/", thread);
    const bool is_shut = access(root.c_str(), F_OK) != 0 && errno == EACCES;
    if (!mappings || is_shut) {
        const int code = is_shut ? EACCES : mappings.error().code;
        if (code == ENOENT) {
            return Error{fmt::format("there is no process {}", pid), 0, help_for_absent()};
        }
        return Error{fmt::format("cannot inspect process {}", pid), code,
                     "run as root; a container needs --cap-add SYS_PTRACE, and under AppArmor "
                     "--security-opt apparmor=unconfined"};
    }
    if (const auto process = process_of(pid); process && *process != pid) {
        return Error{fmt::format("{} is a thread of process {}", pid, *process), 0,
                     fmt::format("--pid {} traces all threads of it; a rule with `where tid == {}` "
                                 "keeps this one",
                                 *process, pid)};
    }
    const Result<std::string> environment =
        read_file(fmt::format("/proc/{}/environ", thread), kMaxEnvironment);
    ProcessView view =
        view_of_command(environment ? split_at_zeros(*environment) : std::vector<std::string>(),
                        link_text(fmt::format("/proc/{}/cwd", thread)),
                        link_text(fmt::format("/proc/{}/exe", thread)));
    view.pid = pid;
    view.root = root_of(thread);
    view.mapped = executable_files(std::move(mappings).value());
    return view;
}

std::string path_of_mapping(const ProcessView& view, const Mapping& mapping) {
    std::string path = view.root + mapping.path;
    if (!mapping.deleted) {
        const Result<UniqueFd> file = open_file(path);
        if (file && is_mapped_from(file->get(), mapping)) return path;
    }
    std::string opened = fmt::format("/proc/{}/map_files/{:x}-{:x}", living_thread(view.pid),
                                     mapping.start, mapping.end);
    return access(opened.c_str(), R_OK) == 0 ? opened : path;
}

}  // namespace mlbcc::process
