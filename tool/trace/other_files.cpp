#include "trace/other_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/glob.h"
#include "base/terminal_text.h"
#include "event/record.h"
#include "system/paths.h"
#include "system/proc.h"

namespace mlbcc::trace {
namespace {

constexpr uint64_t kPatienceNs = 1'000'000'000;  // rings are read one after the other
constexpr size_t kMostCommands = 1 << 16;

std::string_view folder_of(std::string_view path) {
    return path.substr(0, path.rfind('/'));
}

// The folder may be a link, and the version of the file another.
bool is_at(const system::Place& place, const std::string& path) {
    if (!place.has_folder()) return false;
    if (glob_match(place.pattern, path)) return true;
    const auto folder = system::canonical_path(place.root, folder_of(place.pattern));
    return folder && *folder == fmt::format("{}{}", place.root, folder_of(path));
}

}  // namespace

void OtherFiles::look_at(std::span<const std::byte> record) {
    if (record.size() < event::kProcessBytes) return;
    const event::Record one(record);
    if (one.kind() != plan::RecordKind::process) return;
    if (commands_.size() == kMostCommands) commands_.clear();
    commands_[one.header.pid] = one.comm();
    if (one.header.probe != static_cast<uint32_t>(plan::ProcessChange::fork)) return;
    const plan::ProcessRecord process = one.process();
    if (process.is_thread == 0 && process.other != 0) commands_.emplace(process.other, one.comm());
}

void OtherFiles::mapped(uint32_t pid, uint64_t inode, const std::string& path, uint64_t time_ns) {
    for (const target::SoughtLibrary& library : frontend_.libraries) {
        if (told_.contains(library.title) || !is_meant(library, path) || is_traced(inode)) continue;
        const bool known = std::ranges::any_of(
            seen_, [&](const Other& one) { return one.pid == pid && one.library == &library; });
        if (!known) seen_.push_back({&library, pid, path, time_ns});
    }
}

std::vector<std::string> OtherFiles::notes(uint64_t now_ns) {
    std::vector<std::string> notes;
    if (seen_.empty()) return notes;
    for (const int pid : follower_.processes())
        commands_.emplace(static_cast<uint32_t>(pid), system::comm_of(pid).value_or("?"));
    std::erase_if(seen_, [&](const Other& one) {
        if (!follower_.follows_all() && !commands_.contains(one.pid))
            return one.time_ns + kPatienceNs < now_ns;
        if (told_.insert(one.library->title).second) notes.push_back(note_of(one));
        return true;
    });
    return notes;
}

bool OtherFiles::is_meant(const target::SoughtLibrary& library, const std::string& path) const {
    if (frontend_.grows_anywhere(library)) return false;
    return std::ranges::any_of(library.names, [&](const target::LibraryName& name) {
        // Of most files no more is asked: all of the machine are told of.
        if (!system::is_called(system::file_name(name.text), {{}, path, {}})) return false;
        if (!name.has_folder()) return true;
        return std::ranges::any_of(frontend_.places(name),
                                   [&](const system::Place& place) { return is_at(place, path); });
    });
}

bool OtherFiles::is_traced(uint64_t inode) {
    const auto& probes = frontend_.plan.probes;
    for (std::string last; probes_ < probes.size(); ++probes_) {
        if (probes[probes_].kind != plan::ProbeKind::function) continue;
        const std::string& path = frontend_.function(probes[probes_].id).path;
        if (path == last) continue;
        last = path;
        if (const auto file = system::file_id(path)) inodes_.insert(file->inode);
    }
    return inodes_.contains(inode) || (late_ && late_->has_traced(inode));
}

std::string OtherFiles::note_of(const Other& other) const {
    const auto command = commands_.find(other.pid);
    const std::string name = command == commands_.end() ? "?" : command->second;
    const bool by_path =
        std::ranges::all_of(other.library->names, &target::LibraryName::has_folder);
    return fmt::format("{} (PID {}) uses another {}, {}, which is not traced; {}",
                       on_terminal(name), other.pid, other.library->title, on_terminal(other.path),
                       by_path ? "run mlbcc in its root, or name the process with --pid"
                               : "name this file, or its rules `on optional` and give "
                                 "--late-anywhere");
}

}  // namespace mlbcc::trace
