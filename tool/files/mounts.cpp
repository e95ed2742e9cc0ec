#include "files/mounts.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>

#include "base/read_file.h"

namespace mlbcc::files {

namespace {

constexpr const char* kTracefs = "/sys/kernel/tracing";
constexpr const char* kBelowDebugfs = "/sys/kernel/debug/tracing";
constexpr unsigned long kMountFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
constexpr size_t kMaxIdBytes = 64;

bool is_tracefs(const char* folder) {
    struct statfs status;
    return statfs(folder, &status) == 0 && status.f_type == TRACEFS_MAGIC;
}

// In a child: its mount namespace goes with it.
int try_mount_tracefs() {
    const pid_t child = fork();
    if (child < 0) return errno;
    if (child == 0) {
        const bool done = unshare(CLONE_NEWNS) == 0 &&
                          mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          mount("tracefs", kTracefs, "tracefs", kMountFlags, nullptr) == 0;
        _exit(done ? 0 : errno);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

}  // namespace

Result<std::string> ensure_tracefs() {
    for (const char* folder : {kTracefs, kBelowDebugfs}) {
        if (is_tracefs(folder)) return std::string(folder);
    }
    if (mount("tracefs", kTracefs, "tracefs", kMountFlags, nullptr) == 0)
        return std::string(kTracefs);
    const int code = errno;
    if (is_tracefs(kTracefs)) return std::string(kTracefs);  // someone else was faster
    return Error{
        fmt::format("tracefs is not mounted at {}, and cannot be", kTracefs), code,
        fmt::format("run as root: mount -t tracefs tracefs {0}; a container needs -v {0}:{0}",
                    kTracefs)};
}

MountState tracefs_state() {
    for (const char* folder : {kTracefs, kBelowDebugfs}) {
        if (is_tracefs(folder)) return {folder, 0};
    }
    return {"", try_mount_tracefs()};
}

Result<uint64_t> tracepoint_id(const std::string& tracefs, std::string_view category,
                               std::string_view name) {
    const std::string path = fmt::format("{}/events/{}/{}/id", tracefs, category, name);
    const Result<std::string> text = read_file(path, kMaxIdBytes);
    if (!text) {
        if (text.error().code != ENOENT) return text.error();
        return Error{fmt::format("this kernel has no tracepoint `{}:{}`", category, name), 0, {}};
    }
    uint64_t id = 0;
    if (std::from_chars(text->data(), text->data() + text->size(), id).ec != std::errc()) {
        return Error{fmt::format("{} does not hold a number", path), 0, {}};
    }
    return id;
}

}  // namespace mlbcc::files
