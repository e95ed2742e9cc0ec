#include "session/other_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "files/paths.h"
#include "process/proc.h"
#include "text/glob.h"
#include "text/terminal_text.h"

namespace mlbcc::session {
namespace {

constexpr uint64_t kPatienceNs = 1'000'000'000;  // rings are read one after the other
constexpr size_t kMostCommands = 1 << 16;
constexpr int kMostForks = 64;  // between a process and what it runs

std::string_view folder_of(std::string_view path) {
    return path.substr(0, path.rfind('/'));
}

// The folder may be a link, and the version of the file another. What is there below the place's
// own root is none that its name leads to.
bool is_at(const host::WatchedPlace& place, uint64_t inode, const std::string& path) {
    if (!place.has_folder()) return false;
    if (glob_match(place.pattern, path)) return true;
    const auto folder = files::canonical_path(place.root, folder_of(place.pattern));
    if (!folder || *folder != fmt::format("{}{}", place.root, folder_of(path))) return false;
    const auto own = files::file_id(place.root + path);
    return !own || own->inode != inode;
}

}  // namespace

void OtherFiles::look_at(const event::Record& record) {
    if (!has_work()) return;
    if (commands_.size() >= kMostCommands) commands_.clear();
    const auto change = static_cast<plan::ProcessChange>(record.header.probe);
    const plan::ProcessRecord process = record.process();
    const uint32_t pid = record.header.pid;
    const uint64_t time_ns = record.header.time_ns;
    commands_.try_emplace({pid, 0});
    if (change == plan::ProcessChange::exec)
        commands_[{pid, time_ns}] = Began{std::string(record.comm()), 0};
    if (change == plan::ProcessChange::fork && process.is_thread == 0 && process.other != 0)
        commands_.try_emplace({process.other, time_ns}, Began{"", pid});
}

bool OtherFiles::is_known(uint32_t pid) const {
    const auto first = commands_.lower_bound({pid, 0});
    return first != commands_.end() && first->first.first == pid;
}

std::string OtherFiles::command_at(uint32_t pid, uint64_t time_ns) const {
    for (int forks = 0; forks < kMostForks; ++forks) {
        auto found = commands_.upper_bound({pid, time_ns});
        if (found == commands_.begin() || (--found)->first.first != pid) break;
        if (found->second.parent == 0) return found->second.command;
        pid = found->second.parent;
        time_ns = found->first.second;
    }
    return "";
}

void OtherFiles::mapped(uint32_t pid, uint64_t inode, const std::string& path, uint64_t time_ns) {
    for (const target::SoughtLibrary& library : frontend_.libraries) {
        if (told_.contains(library.title) || !is_meant(library, inode, path)) continue;
        if (is_traced(inode)) continue;
        has_new_ |= seen_.try_emplace({pid, &library}, Other{path, time_ns}).second;
    }
}

std::vector<std::string> OtherFiles::notes(uint64_t read_ns) {
    std::vector<std::string> notes;
    if (std::exchange(has_new_, false)) add_running();
    std::erase_if(seen_, [&](const auto& one) {
        const auto& [use, other] = one;
        if (other.time_ns >= read_ns) return false;  // what it runs may be told of in a moment
        if (!follower_.follows_all() && !is_known(use.first))
            return other.time_ns + kPatienceNs < read_ns;
        if (told_.insert(use.second->title).second) notes.push_back(note_of(use, other));
        return true;
    });
    return notes;
}

// Of those that were traced from the beginning there is no record.
void OtherFiles::add_running() {
    if (follower_.follows_all()) return;
    for (const int pid : follower_.processes())
        commands_.try_emplace({static_cast<uint32_t>(pid), 0});
}

bool OtherFiles::is_meant(const target::SoughtLibrary& library, uint64_t inode,
                          const std::string& path) const {
    if (frontend_.grows_anywhere(library)) return false;
    return std::ranges::any_of(library.names, [&](const target::LibraryName& name) {
        // Of most files no more is asked: all of the machine are told of.
        if (!host::is_called(files::file_name(name.text), {{}, path, {}})) return false;
        if (!name.has_folder()) return true;
        const auto places = frontend_.places(name);
        return std::ranges::any_of(
            places, [&](const host::WatchedPlace& place) { return is_at(place, inode, path); });
    });
}

bool OtherFiles::is_traced(uint64_t inode) {
    const auto& probes = frontend_.plan.probes;
    for (std::string last; probes_ < probes.size(); ++probes_) {
        if (probes[probes_].kind != plan::ProbeKind::function) continue;
        const std::string& path = frontend_.function(probes[probes_].id).path;
        if (path == last) continue;
        last = path;
        if (const auto file = files::file_id(path)) inodes_.insert(file->inode);
    }
    return inodes_.contains(inode) || (late_ && late_->has_traced(inode));
}

std::string OtherFiles::note_of(const Use& use, const Other& other) const {
    const auto& [pid, library] = use;
    std::string command = command_at(pid, other.time_ns);
    if (command.empty()) command = process::comm_of(static_cast<int>(pid)).value_or("?");
    const bool by_path = std::ranges::all_of(library->names, &target::LibraryName::has_folder);
    return fmt::format("{} (PID {}) uses another {}, {}, which is not traced; {}",
                       on_terminal(command), pid, library->title, on_terminal(other.path),
                       by_path ? "run mlbcc inside its root, or attach with --pid"
                               : "name that file in the rule, or make the rule `on optional` and "
                                 "give --late-anywhere");
}

}  // namespace mlbcc::session
