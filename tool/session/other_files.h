// Files that traced processes map and rules seem to mean, but that are not traced: of another
// folder, or by the same path in another root (a chroot, a container). Said, for calls of these are
// not counted.
//
//   look_at(), mapped()  what the kernel tells of processes
//   notes()              what is to be said of that, once for each library
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "event/record.h"
#include "load/frontend.h"
#include "load/late.h"
#include "session/follow.h"

namespace mlbcc::session {

class OtherFiles {
public:
    // All must outlive it.
    OtherFiles(const load::Frontend& frontend, Follower& follower,
               const std::optional<load::LateLibraries>& late)
        : frontend_(frontend), follower_(follower), late_(late) {}

    // Whether there are any to be looked for.
    bool has_work() const { return !frontend_.libraries.empty(); }
    void look_at(const event::Record& record);  // of a process
    // `path` is as the process sees it. Device numbers differ from those of stat() on Btrfs.
    void mapped(uint32_t pid, uint64_t inode, const std::string& path, uint64_t time_ns);
    // All records until then have been read: what came later is told the next time.
    std::vector<std::string> notes(uint64_t read_ns);

private:
    struct Other {
        std::string path;
        uint64_t time_ns = 0;
    };
    using Use = std::pair<uint32_t, const target::SoughtLibrary*>;  // by a process
    bool is_meant(const target::SoughtLibrary& library, uint64_t inode,
                  const std::string& path) const;
    bool is_traced(uint64_t inode);
    void add_running();
    bool is_known(uint32_t pid) const;
    // What ran in a process at that time; "" where it was not told.
    std::string command_at(uint32_t pid, uint64_t time_ns) const;
    std::string note_of(const Use& use, const Other& other) const;

    struct Began {
        std::string command;  // that was executed, or
        uint32_t parent = 0;  // the process that forked; neither: not told
    };

    const load::Frontend& frontend_;
    Follower& follower_;
    const std::optional<load::LateLibraries>& late_;
    // Of traced processes, from a time on: records of several CPUs are read in any order.
    std::map<std::pair<uint32_t, uint64_t>, Began> commands_;
    std::map<Use, Other> seen_;   // of processes that may not be traced
    bool has_new_ = false;        // since notes() was asked
    std::set<std::string> told_;  // titles of libraries
    std::set<uint64_t> inodes_;   // of the plan's first `probes_` probes
    size_t probes_ = 0;
};

}  // namespace mlbcc::session
