#include "system/file_limit.h"

#include <sys/resource.h>

namespace mlbcc::system {

void allow_all_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);  // where it fails, fewer will do, or an attach says so
}

}  // namespace mlbcc::system
