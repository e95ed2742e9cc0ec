// Files that traced processes map and rules seem to mean, but that are not traced: of another
// folder, or by the same path in another root (a chroot, a container). Said, for calls of these are
// not counted.
//
//   look_at(), mapped()  what the kernel tells of processes
//   notes()              what is to be said of that, once for each library
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "trace/follow.h"
#include "trace/frontend.h"
#include "trace/late.h"

namespace mlbcc::trace {

class OtherFiles {
public:
    // All must outlive it.
    OtherFiles(const Frontend& frontend, Follower& follower,
               const std::optional<LateLibraries>& late)
        : frontend_(frontend), follower_(follower), late_(late) {}

    // Whether there are any to be looked for.
    bool has_work() const { return !frontend_.libraries.empty(); }
    void look_at(std::span<const std::byte> record);
    // `path` is as the process sees it. Device numbers differ from those of stat() on Btrfs.
    void mapped(uint32_t pid, uint64_t inode, const std::string& path, uint64_t time_ns);
    std::vector<std::string> notes(uint64_t now_ns);

private:
    struct Other {
        const target::SoughtLibrary* library = nullptr;
        uint32_t pid = 0;
        std::string path;
        uint64_t time_ns = 0;
    };
    bool is_meant(const target::SoughtLibrary& library, const std::string& path) const;
    bool is_traced(uint64_t inode);
    std::string note_of(const Other& other) const;

    const Frontend& frontend_;
    Follower& follower_;
    const std::optional<LateLibraries>& late_;
    std::map<uint32_t, std::string> commands_;  // by process, since it is known to be traced
    std::vector<Other> seen_;                   // of processes of which it is not known yet
    std::set<std::string> told_;                // titles of libraries
    std::set<uint64_t> inodes_;                 // of the plan's first `probes_` probes
    size_t probes_ = 0;
};

}  // namespace mlbcc::trace
