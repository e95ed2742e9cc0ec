#include "symbols/held_roots.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/open_file.h"

namespace mlbcc::symbols {
namespace {

constexpr size_t kMostRoots = 256;  // two descriptors each

}  // namespace

HeldRoots::HeldRoots(std::string proc) : proc_(std::move(proc)), own_(look_at("self")) {
    own_.mounts.reset();
    own_.folder.reset();
}

HeldRoots::Place HeldRoots::place_of(int fd) {
    struct stat status {};
    if (fd < 0 || ::fstat(fd, &status) != 0) return {};
    return {status.st_dev, status.st_ino};
}

HeldRoots::Root HeldRoots::look_at(const std::string& process) const {
    const auto open = [&](const char* name, int flags) {
        const std::string path = fmt::format("{}/{}/{}", proc_, process, name);
        return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC));
    };
    Root seen{open("ns/mnt", O_RDONLY), open("root", O_PATH | O_DIRECTORY), {}, {}, 0};
    seen.mounts_place = place_of(seen.mounts.get());
    seen.folder_place = place_of(seen.folder.get());
    return seen;
}

void HeldRoots::see(uint32_t pid, uint64_t time_ns) {
    Root seen = look_at(std::to_string(pid));
    if (!seen.mounts || !seen.folder) return;
    use(pid, seen.is_of(own_) ? nullptr : held(std::move(seen)), time_ns);
}

// Null where there are too many.
HeldRoots::Root* HeldRoots::held(Root seen) {
    const auto known =
        std::ranges::find_if(roots_, [&](const auto& root) { return root->is_of(seen); });
    if (known != roots_.end()) return known->get();
    if (roots_.size() == kMostRoots) return nullptr;
    return roots_.emplace_back(std::make_unique<Root>(std::move(seen))).get();
}

void HeldRoots::use(uint32_t pid, Root* root, uint64_t time_ns) {
    if (root != nullptr) ++root->users;
    if (const auto before = users_.find(pid); before != users_.end()) leave(before);
    if (root != nullptr) users_.emplace(pid, User{root, time_ns});
}

void HeldRoots::forked(uint32_t parent, uint32_t child, uint64_t time_ns) {
    const auto user = users_.find(parent);
    use(child, user == users_.end() ? nullptr : user->second.root, time_ns);
}

// Told when no record of it can follow: its number may be another's by now.
void HeldRoots::ended(uint32_t pid, uint64_t time_ns) {
    const auto user = users_.find(pid);
    if (user != users_.end() && user->second.since_ns <= time_ns) leave(user);
}

void HeldRoots::leave(std::unordered_map<uint32_t, User>::iterator user) {
    Root* const root = user->second.root;
    users_.erase(user);
    if (--root->users > 0) return;
    std::erase_if(roots_, [&](const auto& one) { return one.get() == root; });
}

UniqueFd HeldRoots::open(const Mapping& mapping) const {
    for (const auto& root : roots_) {
        Result<UniqueFd> file = open_file_below(root->folder.get(), mapping.path, Links::follow);
        if (file && is_mapped_from(file->get(), mapping)) return std::move(*file);
    }
    return {};
}

}  // namespace mlbcc::symbols
