// Files that are awaited: who opens one of them waits in open(2) until the tracer has looked at it.
//
//   watch({"", "/srv/venv/lib/libfoo.so*"})
//   a program opens /srv/venv/lib/libfoo.so.1  ->  next() gives {ticket, the open file}  ->
//   release(ticket): its open() returns
//
// A process of its own, the guardian, asks the kernel (fanotify's FAN_OPEN_PERM) and answers it: at
// once for all files that nobody awaits, the tracer's own opening of files included. It opens
// nothing itself, outside /proc. If it ends, or the tracer does, the kernel lets everybody go on; a
// tracer that does not answer is waited for so long as start() says.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "files/paths.h"

namespace mlbcc::host {

// A path (absolute, perhaps a glob) below a root: "" is ours, else "/proc/12/root". Without a `/`
// it is a name that a file may have in any folder.
struct WatchedPlace {
    std::string root, pattern;
    bool has_folder() const { return pattern.find('/') != std::string::npos; }
    bool operator==(const WatchedPlace&) const = default;
};

// A file that is open, and what it goes by.
struct SeenFile {
    files::FileId id;
    std::string path;    // as we can see it: of another mount namespace, only its end may be right
    std::string soname;  // "" where it has none
};
// Nullopt where it is no ELF file. Open nothing. The names cost more: a soname is looked up in the
// file.
std::optional<files::FileId> elf_file_id(int file);
std::optional<SeenFile> seen_file(int file);

// Whether a file is meant by a name without a folder: its own name or its soname is that, or
// goes on with a version (`libx.so.1` and `libx.so.1.2.3` are meant by `libx.so`).
bool is_called(std::string_view wanted, const SeenFile& file);
// Whether a place leads to this file now, by links too. Opens no files, only folders.
bool leads_to(const WatchedPlace& place, const SeenFile& file);

struct HeldOpen {
    int ticket = -1;
    int pid = 0;    // who opens it, as our pid namespace sees it
    UniqueFd file;  // what is opened, for reading
};

class OpenGuard {
public:
    // `patience`: so long a program is held. `answer`: so long the guardian, which marks file
    // systems, is waited for. Errors: no right to do so (CAP_SYS_ADMIN), or a kernel that cannot.
    static Result<OpenGuard> start(std::chrono::nanoseconds patience,
                                   std::chrono::seconds answer = std::chrono::seconds(30));
    OpenGuard(OpenGuard&& other) noexcept;
    OpenGuard& operator=(OpenGuard&&) = delete;
    ~OpenGuard();  // everybody goes on

    // From now on files that this place leads to are held. A folder that is there is watched
    // itself; for one that is not, or not only one, its whole file system is. For a place without
    // a folder, all file systems are that programs are loaded from, also those that are mounted
    // later or in another mount namespace. Returns how many whole ones it is now.
    Result<int> watch(const WatchedPlace& place);
    // Opening this file needs no waiting.
    void pass(const files::FileId& file);

    int fd() const { return socket_.get(); }  // readable where next() may have something
    std::optional<HeldOpen> next();
    void release(const HeldOpen& held);
    bool is_alive() const { return !gone_; }
    pid_t pid() const { return pid_; }  // of the guardian

private:
    OpenGuard(pid_t pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}
    struct Reply {
        int code = 0, file_systems = 0;  // of watch()
        std::optional<HeldOpen> held;
    };
    std::optional<Reply> receive(bool wait);
    void tell(std::string_view text);

    pid_t pid_ = -1;
    UniqueFd socket_;
    std::deque<HeldOpen> arrived_;
    bool gone_ = false;
};

}  // namespace mlbcc::host
