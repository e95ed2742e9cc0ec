#include "files/file_limit.h"

#include <sys/resource.h>

#include <fmt/format.h>

namespace mlbcc::files {
namespace {

constexpr rlim_t kFewest = 64;

}  // namespace

Result<void> allow_all_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
    if (limit.rlim_max < kFewest) {
        return Error{fmt::format("only {} files may be open at a time here, and mlbcc needs {}",
                                 limit.rlim_max, kFewest),
                     0, "allow more open files: `ulimit -n 65536`"};
    }
    if (limit.rlim_cur == limit.rlim_max) return {};
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);  // where it fails, fewer will do, or an attach says so
    return {};
}

}  // namespace mlbcc::files
