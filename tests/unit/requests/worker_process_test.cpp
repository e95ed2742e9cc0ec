// Requests that processes of a pool work for: children that read from pipes what a thread of the
// server writes, and answer another.
#include "requests/server.h"

namespace mlbcc::requests {
namespace {

constexpr uint32_t kServer = 1, kWriter = 2, kReader = 3;  // threads of the server
constexpr uint32_t kFirst = 7, kSecond = 8;                // processes of its pool

struct PoolOfProcesses : Server {
    void waits_in(uint32_t pid, uint32_t tid, uint64_t begin, uint64_t end, std::string reason,
                  uint32_t waker = 0, uint32_t waker_pid = 0, uint32_t parent = kServer) {
        ServeEvent one{Kind::wait, begin, end, pid, tid, -1, 0, 0, std::move(reason), waker};
        one.other_pid = waker_pid;
        one.parent_pid = parent;
        on.add(one);
    }
    void asks(uint64_t at, int64_t fd, const std::string& what) {
        happens(Kind::accept, at - 1, kServer, fd);
        happens(Kind::receive, at, kServer, fd, what);
    }
    void is_given_work(uint32_t process, uint64_t since, uint64_t at) {
        waits_in(process, process, since, at, "pipe", kWriter, kServer);
    }
    void answers(uint32_t process, uint64_t at) {
        waits_in(kServer, kReader, at - 5, at, "poll", process, process, 0);
    }
    void loop_waits(uint64_t begin, uint64_t end) {
        waits_in(kServer, kServer, begin, end, "poll", kReader, kServer, 0);
    }
    // One process is given work at 120, and answers at 200; its caller waits meanwhile.
    void reads_a_disk(uint64_t begin, uint64_t end, uint32_t parent = kServer) {
        waits_in(kFirst, kFirst, 60, 120, "pipe", kWriter, kServer, parent);
        waits_in(kFirst, kFirst, begin, end, "disk", 0, 0, parent);
        answers(kFirst, 200);
        loop_waits(110, 205);
    }
    void waits_for_more(uint32_t parent = kServer) {
        waits_in(kFirst, kFirst, 202, 300, "pipe", kWriter, kServer, parent);
        on.finish();
    }
    void says_ok(uint64_t at, int64_t fd) { happens(Kind::send, at, kServer, fd, kOk + "ok"); }
};

TEST_F(PoolOfProcesses, what_a_process_does_is_its_requests) {
    is_given_work(kFirst, 10, 50);  // the first work of a process tells that it is one
    asks(100, 5, kGet);
    reads_a_disk(150, 170);
    says_ok(210, 5);
    waits_for_more();
    ASSERT_EQ(taken.answered.size(), 1u);
    const Request& a = taken.answered[0];
    EXPECT_EQ(part(a, "disk"), 20u);
    EXPECT_EQ(part(a, "cpu"), 10u + (200 - 120) - 20 + 5);
    EXPECT_EQ(part(a, "poll"), 10u + 5);  // on the way to it and from it
    EXPECT_EQ(sum(a.parts), 110u);
}

TEST_F(PoolOfProcesses, a_process_may_have_its_next_work_at_once) {
    asks(100, 5, kGet);
    is_given_work(kFirst, 60, 120);
    loop_waits(110, 130);
    asks(140, 6, kGet);
    answers(kFirst, 200);
    loop_waits(150, 205);
    says_ok(210, 5);
    waits_in(kFirst, kFirst, 205, 220, "lock", kSecond, kSecond);  // its turn at the pipe
    answers(kFirst, 300);
    loop_waits(215, 305);
    says_ok(310, 6);
    is_given_work(kFirst, 302, 400);
    on.finish();
    ASSERT_EQ(taken.answered.size(), 2u);
    const Request& b = taken.answered[1];
    EXPECT_EQ(sum(b.parts), 170u);
    EXPECT_EQ(part(b, "lock"), 0u);
    EXPECT_GE(part(b, "cpu"), 300u - 220);
}

TEST_F(PoolOfProcesses, requests_of_several_endpoints_do_not_mix) {
    asks(100, 5, kGet);
    asks(101, 6, kOther);
    reads_a_disk(130, 190);
    says_ok(210, 6);
    says_ok(211, 5);
    waits_for_more();
    ASSERT_EQ(taken.answered.size(), 2u);
    for (const Request& one : taken.answered) {
        EXPECT_EQ(part(one, "disk"), 0u);
        EXPECT_GE(part(one, "shared"), 40u);
    }
}

TEST_F(PoolOfProcesses, another_process_may_have_made_them) {
    constexpr uint32_t kMaker = 6;
    waits_in(kMaker, kMaker, 1, 5, "poll", kWriter, kServer);
    asks(100, 5, kGet);
    reads_a_disk(150, 170, kMaker);
    says_ok(210, 5);
    waits_for_more(kMaker);
    ASSERT_EQ(taken.answered.size(), 1u);
    EXPECT_EQ(part(taken.answered[0], "disk"), 20u);
}

// A thread that computes, and has a part of it done by a process whose answer it reads itself.
TEST_F(PoolOfProcesses, who_asks_for_an_answer_works_before_and_behind_it) {
    asks(100, 5, kGet);
    waits_in(kServer, kReader, 60, 110, "lock", kServer, kServer, 0);
    happens(Kind::send, 129, kServer, 9, "work", kReader);  // to the process
    is_given_work(kFirst, 60, 130);
    waits_in(kFirst, kFirst, 140, 150, "disk");
    waits_in(kServer, kReader, 130, 160, "pipe", kFirst, kFirst, 0);
    waits_in(kServer, kReader, 170, 180, "disk", 0, 0, 0);
    loop_waits(110, 200);
    says_ok(205, 5);
    is_given_work(kFirst, 161, 300);
    waits_in(kServer, kReader, 202, 300, "lock", kServer, kServer, 0);
    on.finish();
    ASSERT_EQ(taken.answered.size(), 1u);
    const Request& a = taken.answered[0];
    EXPECT_EQ(part(a, "disk"), 10u + 10);
    EXPECT_EQ(part(a, "pipe"), 0u);
    EXPECT_EQ(part(a, "cpu"), 105u - 10 - 10);
    EXPECT_EQ(sum(a.parts), 105u);
}

// Likewise, of one that had its next work when it gave back: it is none that is there for answers.
TEST_F(PoolOfProcesses, who_asks_for_an_answer_may_have_had_its_work_at_once) {
    asks(100, 5, kGet);
    waits_in(kServer, kReader, 60, 110, "lock", kServer, kServer, 0);
    waits_in(kServer, kServer, 112, 138, "poll", 0, 0, 0);
    asks(140, 6, kGet);
    loop_waits(145, 150);
    says_ok(155, 5);
    happens(Kind::send, 229, kServer, 9, "work", kReader);
    waits_in(kFirst, kFirst, 60, 230, "pipe", kReader, kServer);
    waits_in(kFirst, kFirst, 240, 250, "disk");
    waits_in(kServer, kReader, 230, 260, "pipe", kFirst, kFirst, 0);
    loop_waits(160, 400);
    says_ok(405, 6);
    waits_in(kFirst, kFirst, 261, 500, "pipe", kReader, kServer);
    waits_in(kServer, kReader, 402, 500, "lock", kServer, kServer, 0);
    on.finish();
    ASSERT_EQ(taken.answered.size(), 2u);
    const Request& b = taken.answered[1];
    EXPECT_EQ(part(b, "disk"), 10u);
    EXPECT_EQ(part(b, "pipe"), 0u);
    EXPECT_GE(part(b, "cpu"), 400u - 150 - 10);
    EXPECT_EQ(sum(b.parts), 265u);
}

// A client in the same trace waits for the server, too, but is not its child.
TEST_F(PoolOfProcesses, who_is_no_child_works_for_nobody) {
    asks(100, 5, kGet);
    waits_in(kFirst, kFirst, 60, 120, "network", kServer, kServer, 99);
    waits_in(kFirst, kFirst, 130, 190, "disk", 0, 0, 99);
    waits_in(kServer, kServer, 110, 205, "poll", kFirst, kFirst, 0);
    says_ok(210, 5);
    waits_in(kFirst, kFirst, 202, 300, "network", kServer, kServer, 99);
    on.finish();
    ASSERT_EQ(taken.answered.size(), 1u);
    EXPECT_EQ(part(taken.answered[0], "poll"), 95u);
    EXPECT_EQ(part(taken.answered[0], "disk"), 0u);
}

}  // namespace
}  // namespace mlbcc::requests
