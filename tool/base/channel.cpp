// A frame on the wire:
//   FrameHead | one byte for each batch of descriptors, which carries them | the JSON text
#include "base/channel.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>

namespace mlbcc {

namespace {

constexpr size_t kMaxJson = size_t{256} << 20;
constexpr size_t kMaxFds = size_t{1} << 16;
constexpr size_t kBatch = 250;  // the kernel takes 253 (SCM_MAX_FD, include/net/scm.h)
constexpr size_t kChunk = size_t{1} << 20;

struct FrameHead {
    uint32_t json_bytes = 0, fd_count = 0;
};

Error broken(const std::string& why) {
    return Error{"the message from the other process is broken: " + why};
}

// ---- bytes

Result<void> send_bytes(int socket, const void* bytes, size_t size) {
    const char* at = static_cast<const char*>(bytes);
    while (size > 0) {
        ssize_t n = ::send(socket, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return system_error("cannot send to the other process");
        at += n;
        size -= static_cast<size_t>(n);
    }
    return {};
}

// How many bytes came before the peer closed its end: `size`, or fewer.
Result<size_t> receive_bytes(int socket, void* bytes, size_t size) {
    char* at = static_cast<char*>(bytes);
    size_t have = 0;
    while (have < size) {
        ssize_t n = ::recv(socket, at + have, size - have, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return system_error("cannot receive from the other process");
        if (n == 0) break;
        have += static_cast<size_t>(n);
    }
    return have;
}

// The text grows as it comes: a broken length does not allocate what never arrives.
Result<std::string> receive_text(int socket, size_t size) {
    std::string text;
    while (text.size() < size) {
        size_t old_size = text.size(), part = std::min(kChunk, size - old_size);
        text.resize(old_size + part);
        auto got = receive_bytes(socket, text.data() + old_size, part);
        if (!got) return got.error();
        if (*got < part) return broken("it ends within its text");
    }
    return text;
}

// ---- descriptors

struct alignas(cmsghdr) ControlBuffer {
    char bytes[CMSG_SPACE(kBatch * sizeof(int))];
};

// One byte of data with descriptors that belong to it.
struct BatchMessage {
    char byte = 'F';
    iovec data{&byte, 1};
    ControlBuffer control{};
    msghdr header{};

    explicit BatchMessage(size_t fd_count) {
        header.msg_iov = &data;
        header.msg_iovlen = 1;
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
    }
    BatchMessage(const BatchMessage&) = delete;
    BatchMessage& operator=(const BatchMessage&) = delete;
};

Result<void> send_batch(int socket, std::span<const int> fds) {
    BatchMessage message(fds.size());
    cmsghdr* control = CMSG_FIRSTHDR(&message.header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(control), fds.data(), fds.size_bytes());
    ssize_t n;
    do {
        n = ::sendmsg(socket, &message.header, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return system_error("cannot send file descriptors to the other process");
    return {};
}

// What the kernel installed is owned at once, so that no error below leaks it.
void take_descriptors(msghdr& header, std::vector<UniqueFd>& fds) {
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            fds.emplace_back(fd);
        }
    }
}

Result<void> receive_batch(int socket, size_t count, std::vector<UniqueFd>& fds) {
    BatchMessage message(kBatch);
    ssize_t n;
    do {
        n = ::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return system_error("cannot receive file descriptors from the other process");
    if (n == 0) return broken("it ends before its file descriptors");
    size_t before = fds.size();
    take_descriptors(message.header, fds);
    if ((message.header.msg_flags & MSG_CTRUNC) != 0) {
        return Error{"cannot receive file descriptors from the other process", EMFILE,
                     "allow more open files: `ulimit -n 65536`"};
    }
    if (fds.size() - before != count) return broken("its file descriptors are missing");
    return {};
}

Result<std::vector<UniqueFd>> receive_fds(int socket, size_t count) {
    std::vector<UniqueFd> fds;
    while (fds.size() < count) {
        auto batch = receive_batch(socket, std::min(kBatch, count - fds.size()), fds);
        if (!batch) return batch.error();
    }
    return fds;
}

}  // namespace

Result<void> send_message(int socket, std::string_view json, std::span<const int> fds) {
    if (json.empty()) return Error{"cannot send an empty message"};
    if (json.size() > kMaxJson) return Error{"cannot send a message of more than 256 MiB"};
    if (fds.size() > kMaxFds) return Error{"cannot send more than 65536 file descriptors"};
    FrameHead head{static_cast<uint32_t>(json.size()), static_cast<uint32_t>(fds.size())};
    if (auto sent = send_bytes(socket, &head, sizeof head); !sent) return sent;
    for (size_t i = 0; i < fds.size(); i += kBatch) {
        auto sent = send_batch(socket, fds.subspan(i, std::min(kBatch, fds.size() - i)));
        if (!sent) return sent;
    }
    return send_bytes(socket, json.data(), json.size());
}

Result<Message> receive_message(int socket) {
    FrameHead head;
    auto got = receive_bytes(socket, &head, sizeof head);
    if (!got) return got.error();
    if (*got == 0) return Message{};
    if (*got < sizeof head) return broken("it ends within its first 8 bytes");
    if (head.json_bytes == 0 || head.json_bytes > kMaxJson || head.fd_count > kMaxFds) {
        return broken("it does not begin as a message does");
    }
    auto fds = receive_fds(socket, head.fd_count);
    if (!fds) return fds.error();
    auto json = receive_text(socket, head.json_bytes);
    if (!json) return json.error();
    return Message{std::move(*json), std::move(*fds)};
}

}  // namespace mlbcc
