// The guardian's side of OpenGuard, and what the two say to each other: packets on a socket.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/unique_fd.h"
#include "files/paths.h"

namespace mlbcc::host {

// To the guardian; behind a `watch` stand the place's root, a zero and its pattern.
struct GuardRequest {
    enum class Kind : int { watch, pass, release } kind{};
    int ticket = -1;
    files::FileId file;
};

// From the guardian. A held file's descriptor comes with it.
struct GuardReply {
    enum class Kind : int { watched, held } kind{};
    int ticket = -1;  // held
    int pid = 0;
    int code = 0;  // watched: errno
    int file_systems = 0;
};

// Serves until the socket is closed. Nobody is held for longer than `patience`.
[[noreturn]] void run_guardian(UniqueFd fanotify, UniqueFd socket,
                               std::chrono::nanoseconds patience);

}  // namespace mlbcc::host
