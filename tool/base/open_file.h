// Opening files that others may have made: what a traced process sees, what its container holds,
// what anybody may put into /tmp.
//
//   open_file("/proc/12/root/usr/lib/libx.so")   as process 12 sees it: no link leads out of there
//   open_file("/tmp/perf-12.map")                as we see it
//
// Only regular files are opened. What else is there, a pipe or a device, is looked at and left
// alone, so that nothing waits and nothing is set off by it.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc {

// For reading. Errors: errno's; "PATH is a directory"; "PATH is not a regular file".
// "/proc/self/fd/7" is that descriptor once more: to open its file anew might be to wait for
// whoever watches it.
Result<UniqueFd> open_file(const std::string& path);
// Likewise, of a folder that stands for "/". A link is no regular file if it is not to be followed.
enum class Links { follow, refuse };  // at the path's end
Result<UniqueFd> open_file_below(int root, const std::string& path, Links links);

// What is there, whatever it is: not opened, for fstat() and the like.
UniqueFd look_at(const std::string& path);

bool is_same_file(const struct stat& a, const struct stat& b);

// For system calls that open a path themselves: as long as it lives, it leads to what `path` leads
// to now, whatever a process puts there meanwhile.
class HeldPath {
public:
    explicit HeldPath(const std::string& path);
    const char* c_str() const { return reached_.c_str(); }

private:
    UniqueFd file_;  // of one below a process's root
    std::string reached_;
};

}  // namespace mlbcc
