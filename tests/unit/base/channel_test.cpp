#include "base/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <numeric>
#include <thread>

namespace mlbcc {
namespace {

struct Pair {
    UniqueFd left, right;
};

Pair make_pair() {
    int fds[2] = {-1, -1};
    MLBCC_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

ino_t inode(int fd) {
    struct stat status {};
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

void send_raw(int socket, std::vector<uint32_t> head, const std::string& rest = "") {
    ASSERT_EQ(send(socket, head.data(), head.size() * 4, 0), ssize_t(head.size() * 4));
    ASSERT_EQ(send(socket, rest.data(), rest.size(), 0), ssize_t(rest.size()));
}

TEST(Channel, TextAlone) {
    Pair pair = make_pair();
    ASSERT_TRUE(send_message(pair.left.get(), R"({"a":1})").ok());
    ASSERT_TRUE(send_message(pair.left.get(), "second").ok());
    EXPECT_EQ(receive_message(pair.right.get())->json, R"({"a":1})");
    EXPECT_EQ(receive_message(pair.right.get())->json, "second");
}

TEST(Channel, AClosedPeerIsAnEmptyMessage) {
    Pair pair = make_pair();
    pair.left.reset();
    auto message = receive_message(pair.right.get());
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message->json, "");
    EXPECT_TRUE(message->fds.empty());
}

TEST(Channel, LargeText) {
    Pair pair = make_pair();
    std::string large(20 << 20, 'x');
    std::thread sender([&] { EXPECT_TRUE(send_message(pair.left.get(), large).ok()); });
    auto message = receive_message(pair.right.get());
    sender.join();
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message->json, large);
}

// Descriptors of different files arrive in order, close-on-exec, with the message they belong to.
TEST(Channel, Descriptors) {
    Pair pair = make_pair();
    std::vector<UniqueFd> sent;
    std::vector<int> numbers;
    for (int i = 0; i < 600; ++i) {
        sent.emplace_back(memfd_create("test", 0));
        numbers.push_back(sent.back().get());
    }
    std::thread sender([&] {
        EXPECT_TRUE(send_message(pair.left.get(), "first", numbers).ok());
        EXPECT_TRUE(send_message(pair.left.get(), "second", std::span(numbers).first(1)).ok());
    });
    auto first = receive_message(pair.right.get());
    auto second = receive_message(pair.right.get());
    sender.join();
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->json, "first");
    ASSERT_EQ(first->fds.size(), 600u);
    for (size_t i = 0; i < 600; ++i) {
        EXPECT_EQ(inode(first->fds[i].get()), inode(numbers[i]));
        EXPECT_EQ(fcntl(first->fds[i].get(), F_GETFD), FD_CLOEXEC);
    }
    ASSERT_EQ(second->fds.size(), 1u);
    EXPECT_EQ(inode(second->fds[0].get()), inode(numbers[0]));
}

TEST(Channel, SendingToAClosedPeerIsAnErrorAndNoSignal) {
    Pair pair = make_pair();
    pair.right.reset();
    auto sent = send_message(pair.left.get(), "text");
    ASSERT_FALSE(sent.ok());
    EXPECT_EQ(sent.error().message(), "cannot send to the other process: Broken pipe");
}

TEST(Channel, WhatCannotBeSent) {
    Pair pair = make_pair();
    EXPECT_EQ(send_message(pair.left.get(), "").error().message(), "cannot send an empty message");
    int bad = 1'000'000;
    EXPECT_EQ(send_message(pair.left.get(), "x", std::span(&bad, 1)).error().message(),
              "cannot send file descriptors to the other process: Bad file descriptor");
    std::string huge((256 << 20) + 1, 'x');
    EXPECT_EQ(send_message(pair.left.get(), huge).error().message(),
              "cannot send a message of more than 256 MiB");
}

std::string broken(std::vector<uint32_t> head, const std::string& rest = "") {
    Pair pair = make_pair();
    send_raw(pair.left.get(), std::move(head), rest);
    pair.left.reset();
    auto message = receive_message(pair.right.get());
    return message.ok() ? "no error" : message.error().message();
}

TEST(Channel, BrokenMessages) {
    const std::string kBroken = "the message from the other process is broken: ";
    EXPECT_EQ(broken({10}), kBroken + "it ends within its first 8 bytes");
    EXPECT_EQ(broken({10, 0}, "short"), kBroken + "it ends within its text");
    EXPECT_EQ(broken({200 << 20, 0}, "short"), kBroken + "it ends within its text");
    EXPECT_EQ(broken({0, 0}), kBroken + "it does not begin as a message does");
    EXPECT_EQ(broken({0xffffffff, 0}), kBroken + "it does not begin as a message does");
    EXPECT_EQ(broken({5, 0xffffffff}), kBroken + "it does not begin as a message does");
    EXPECT_EQ(broken({5, 1}), kBroken + "it ends before its file descriptors");
    EXPECT_EQ(broken({5, 1}, "Fhello"), kBroken + "its file descriptors are missing");
}

TEST(Channel, TooManyOpenFiles) {
    Pair pair = make_pair();
    std::vector<int> fds(20, pair.left.get());
    ASSERT_TRUE(send_message(pair.left.get(), "text", fds).ok());
    rlimit old{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
    rlimit low{static_cast<rlim_t>(pair.right.get()) + 5, old.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    auto message = receive_message(pair.right.get());
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
    ASSERT_FALSE(message.ok());
    EXPECT_EQ(message.error().message(),
              "cannot receive file descriptors from the other process: Too many open files");
    EXPECT_EQ(message.error().help, "allow more open files: `ulimit -n 65536`");
}

TEST(Channel, SignalsDoNotTearMessages) {
    Pair pair = make_pair();
    struct sigaction action {
    }, old{};
    action.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(SIGUSR1, &action, &old), 0);  // without SA_RESTART: calls give EINTR
    std::string large(8 << 20, 'x');
    pthread_t receiver = pthread_self();
    std::thread sender([&] {
        for (int i = 0; i < 50; ++i) {
            pthread_kill(receiver, SIGUSR1);
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        EXPECT_TRUE(send_message(pair.left.get(), large).ok());
    });
    auto message = receive_message(pair.right.get());
    sender.join();
    ASSERT_EQ(sigaction(SIGUSR1, &old, nullptr), 0);
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message->json.size(), large.size());
}

}  // namespace
}  // namespace mlbcc
