#include "host/open_marks.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/fanotify.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/read_file.h"
#include "files/file_systems.h"
#include "files/overlay_layers.h"
#include "text/glob.h"

namespace mlbcc::host {

namespace {

constexpr size_t kMaxMountinfo = 64 << 20;

bool is_folder(const std::string& path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// 0 where it has ended, or is not one that we can see.
uint64_t mount_namespace(const std::string& process) {
    return files::file_id("/proc/" + process + "/ns/mnt").value_or(files::FileId{}).inode;
}

}  // namespace

// The folder itself where there is just one and it is there; else its file system, as far as
// there is a path to it.
int OpenMarks::add(const WatchedPlace& place) {
    if (!place.has_folder()) return add_file_systems(place.root);
    std::string folder = place.pattern.substr(0, place.pattern.rfind('/') + 1);
    const auto real = files::canonical_path(place.root, folder);
    if (!is_glob(folder) && real && is_folder(*real)) {
        return mark(*real, 0, FAN_OPEN_PERM | FAN_EVENT_ON_CHILD);
    }
    while (true) {
        const auto nearest = files::canonical_path(place.root, folder);
        if (!is_glob(folder) && nearest && is_folder(*nearest)) {
            return mark(*nearest, FAN_MARK_FILESYSTEM, FAN_OPEN_PERM);
        }
        const size_t slash = folder.find_last_of('/', folder.size() - 2);
        if (folder.size() < 2 || slash == std::string::npos) return ENOENT;
        folder.resize(slash + 1);
    }
}

// All again each time: numbers of devices and mounts are soon used for others. "/proc/12/root" has
// its list of mounts beside it.
int OpenMarks::add_file_systems(const std::string& root) {
    if (!mounts_) {
        mounts_.reset(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
        namespace_ = mount_namespace("self");
    }
    const std::string process = root.empty() ? "/proc/self" : root.substr(0, root.rfind('/'));
    const Result<std::string> mountinfo = read_file(process + "/mountinfo", kMaxMountinfo);
    if (!mountinfo) return mountinfo.error().code != 0 ? mountinfo.error().code : EFBIG;
    int code = ENOENT;
    for (const files::Mount& mount : files::program_mounts(*mountinfo)) {
        const int done = mark(root + mount.folder, FAN_MARK_FILESYSTEM, FAN_OPEN_PERM);
        if (done == 0) devices_.insert(mount.device);
        if (code != 0) code = done;
    }
    return code;
}

void OpenMarks::renew() {
    add_file_systems("");
}

void OpenMarks::follow(int pid) {
    if (!mounts_) return;
    pollfd changed{mounts_.get(), POLLPRI, 0};
    if (::poll(&changed, 1, 0) == 1 && (changed.revents & POLLPRI) != 0) renew();
    if (pid <= 0) return;
    const std::string process = std::to_string(pid);
    const uint64_t theirs = mount_namespace(process);
    if (theirs != 0 && theirs != namespace_) add_file_systems("/proc/" + process + "/root");
}

// With all file systems watched, the layers are.
bool OpenMarks::is_seen_below(const std::string& path) {
    if (!mounts_ || !files::is_on_overlay(path.c_str())) return false;
    if (!layers_tell_) layers_tell_ = files::layers_tell();
    return *layers_tell_;
}

int OpenMarks::mark(const std::string& path, unsigned flags, uint64_t mask) {
    if (is_seen_below(path)) return EOPNOTSUPP;
    const int done = fanotify_mark(fanotify_, FAN_MARK_ADD | flags, mask, AT_FDCWD, path.c_str());
    return done == 0 ? 0 : errno;
}

}  // namespace mlbcc::host
