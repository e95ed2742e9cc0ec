// Framed messages over a Unix stream socket between mlbcc and its helper mlbcc-bcc: two 32-bit
// counts, file descriptors (SCM_RIGHTS) and the JSON text that they belong to.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc {

struct Message {
    std::string json;
    std::vector<UniqueFd> fds;
};

// `json` is not empty and at most 256 MiB. Up to 65536 descriptors: they are sent in batches of at
// most 250 (the kernel's limit is 253). A peer that is gone is EPIPE, never a signal.
Result<void> send_message(int socket, std::string_view json, std::span<const int> fds = {});
// An empty json means that the peer has closed the socket in good order. Descriptors are
// close-on-exec, and closed again where the message turns out to be broken.
Result<Message> receive_message(int socket);

}  // namespace mlbcc
