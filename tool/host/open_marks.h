// What the kernel is told to ask about: a place becomes fanotify marks on a folder, on a file
// system or, for a name without a folder, on all that programs are loaded from.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/unique_fd.h"
#include "host/open_guard.h"

namespace mlbcc::host {

class OpenMarks {
public:
    explicit OpenMarks(int fanotify) : fanotify_(fanotify) {}

    // Returns errno: EOPNOTSUPP is an overlay whose layers must be watched in its place. For those
    // without a folder first, since these decide it.
    int add(const WatchedPlace& place);
    // Whole ones so far, for places without a folder.
    int file_systems() const { return static_cast<int>(devices_.size()); }

    // POLLPRI, just once, when something was mounted in our mount namespace: renew() then marks it.
    // -1 where nothing depends on it.
    int mounts_fd() const { return mounts_.get(); }
    void renew();
    // Likewise at once, in our mount namespace and, if it has another, in that of `pid`. So what a
    // process mounts before it opens a file that is marked already is marked before it goes on.
    void follow(int pid);

private:
    int add_file_systems(const std::string& root);
    int mark(const std::string& path, unsigned flags, uint64_t mask);
    bool is_seen_below(const std::string& path);

    int fanotify_;
    UniqueFd mounts_;
    uint64_t namespace_ = 0;  // ours, as an inode
    std::set<std::string> devices_;
    std::optional<bool> layers_tell_;
};

}  // namespace mlbcc::host
