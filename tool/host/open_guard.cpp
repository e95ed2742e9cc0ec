#include "host/open_guard.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <string>
#include <utility>

#include "elf/elf_file.h"
#include "host/guardian.h"
#include "text/glob.h"

namespace mlbcc::host {

namespace {

constexpr unsigned kGroup =
    FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS;
constexpr unsigned kFiles = O_RDONLY | O_LARGEFILE | O_CLOEXEC | O_NONBLOCK;

UniqueFd take_descriptor(msghdr& message) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
         part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
        return UniqueFd(fd);
    }
    return {};
}

std::string bytes_of(const GuardRequest& request) {
    return {reinterpret_cast<const char*>(&request), sizeof request};
}

}  // namespace

std::optional<files::FileId> elf_file_id(int file) {
    struct stat status;
    std::array<char, SELFMAG> magic;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    if (pread(file, magic.data(), magic.size(), 0) != SELFMAG) return std::nullopt;
    if (std::memcmp(magic.data(), ELFMAG, SELFMAG) != 0) return std::nullopt;
    return files::FileId{status.st_dev, status.st_ino};
}

std::optional<SeenFile> seen_file(int file) {
    const std::optional<files::FileId> id = elf_file_id(file);
    if (!id) return std::nullopt;
    constexpr std::string_view kDeleted = " (deleted)";
    std::array<char, PATH_MAX> path;
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const ssize_t length = readlink(link.c_str(), path.data(), path.size());
    SeenFile seen{*id, {}, elf::elf_soname(file).value_or("")};
    if (length > 0) seen.path.assign(path.data(), static_cast<size_t>(length));
    if (seen.path.ends_with(kDeleted)) seen.path.resize(seen.path.size() - kDeleted.size());
    return seen;
}

// What a link leads to has a name of its own; the version is what links leave out.
bool is_called(std::string_view wanted, const SeenFile& file) {
    const std::string longer = std::string(wanted) + ".[0-9]*";
    const bool is_library = wanted.find(".so") != std::string_view::npos;
    const auto fits = [&](std::string_view name) {
        return glob_match(wanted, name) || (is_library && glob_match(longer, name));
    };
    return fits(files::file_name(file.path)) || (!file.soname.empty() && fits(file.soname));
}

bool leads_to(const WatchedPlace& place, const SeenFile& file) {
    if (!place.has_folder()) return is_called(place.pattern, file);
    const auto is_it = [&](const std::string& path) { return files::file_id(path) == file.id; };
    if (is_glob(place.pattern)) {
        return std::ranges::any_of(files::expand_glob(place.root, place.pattern), is_it);
    }
    const std::optional<std::string> real = files::canonical_path(place.root, place.pattern);
    return real && is_it(*real);
}

Result<OpenGuard> OpenGuard::start(std::chrono::nanoseconds patience, std::chrono::seconds answer) {
    UniqueFd fanotify(fanotify_init(kGroup, kFiles));
    if (!fanotify) {
        return system_error("cannot wait for files to be opened (fanotify)",
                            errno == EPERM ? "run as root, or with CAP_SYS_ADMIN (of a container: "
                                             "--cap-add SYS_ADMIN)"
                                           : "");
    }
    std::array<int, 2> sockets;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
        return system_error("cannot make a socket");
    }
    UniqueFd ours(sockets[0]), theirs(sockets[1]);
    const timeval limit{answer.count(), 0};
    setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const pid_t pid = fork();
    if (pid < 0) return system_error("cannot start a process");
    if (pid == 0) {
        ours.reset();
        run_guardian(std::move(fanotify), std::move(theirs), patience);
    }
    return OpenGuard(pid, std::move(ours));
}

OpenGuard::OpenGuard(OpenGuard&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)),
      arrived_(std::move(other.arrived_)), gone_(other.gone_) {}

// With its last descriptor the kernel lets go whoever is held.
OpenGuard::~OpenGuard() {
    socket_.reset();
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);  // it may be stopped
    waitpid(pid_, nullptr, 0);
}

void OpenGuard::tell(std::string_view text) {
    while (send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0) {
        if (errno == EINTR) continue;
        gone_ = true;
        return;
    }
}

std::optional<OpenGuard::Reply> OpenGuard::receive(bool wait) {
    GuardReply reply;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control;
    iovec part{&reply, sizeof reply};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got;
    do {
        got = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN && !wait) return std::nullopt;
    if (got != sizeof reply) {  // or it does not answer
        gone_ = true;
        return std::nullopt;
    }
    if (reply.kind == GuardReply::Kind::watched) return Reply{reply.code, reply.file_systems, {}};
    return Reply{0, 0, HeldOpen{reply.ticket, reply.pid, take_descriptor(message)}};
}

Result<int> OpenGuard::watch(const WatchedPlace& place) {
    GuardRequest request{GuardRequest::Kind::watch, -1, {}};
    tell(bytes_of(request) + place.root + '\0' + place.pattern);
    while (!gone_) {
        std::optional<Reply> reply = receive(true);
        if (!reply) continue;
        if (reply->held) {
            arrived_.push_back(std::move(*reply->held));
            continue;
        }
        if (reply->code == 0) return reply->file_systems;
        errno = reply->code;
        return system_error(place.has_folder() ? "cannot watch " + place.root + place.pattern
                                               : "cannot watch file systems for " + place.pattern);
    }
    return Error{"the process that waits for files to be opened does not answer"};
}

void OpenGuard::pass(const files::FileId& file) {
    tell(bytes_of({GuardRequest::Kind::pass, -1, file}));
}

std::optional<HeldOpen> OpenGuard::next() {
    if (arrived_.empty() && !gone_) {
        std::optional<Reply> reply = receive(false);
        if (reply && reply->held) arrived_.push_back(std::move(*reply->held));
    }
    if (arrived_.empty()) return std::nullopt;
    HeldOpen first = std::move(arrived_.front());
    arrived_.pop_front();
    return first;
}

void OpenGuard::release(const HeldOpen& held) {
    tell(bytes_of({GuardRequest::Kind::release, held.ticket, {}}));
}

}  // namespace mlbcc::host
