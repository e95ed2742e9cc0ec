// Framed messages over a Unix socket between mlbcc and its helper mlbcc-bcc: a 32-bit length, a
// JSON text of that length, and file descriptors (SCM_RIGHTS) that belong to it.
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

// Any number of descriptors: they are sent in batches of at most 250 (the kernel's limit is 253).
Result<void> send_message(int socket, std::string_view json, std::span<const int> fds = {});
// An empty json means that the peer has closed the socket in good order.
Result<Message> receive_message(int socket);

}  // namespace mlbcc
