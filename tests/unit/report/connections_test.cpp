#include "report/connections.h"

#include <gtest/gtest.h>

namespace mlbcc::report {
namespace {

using Kind = ServeEvent::Kind;

struct Taken : TakeRequest {
    std::vector<Request> answered, closed;
    void request(const Request& one, RequestEnd end) override {
        (end == RequestEnd::answered ? answered : closed).push_back(one);
    }
};

struct Server : testing::Test {
    Taken taken;
    Connections on{true, taken};

    void happens(Kind kind, uint64_t at, uint32_t pid, int64_t fd, std::string text = {},
                 uint32_t tid = 0) {
        ServeEvent one;
        one.kind = kind;
        one.begin_ns = one.end_ns = at;
        one.pid = pid;
        one.tid = tid == 0 ? pid : tid;
        one.fd = fd;
        one.bytes = text.size();
        one.text = std::move(text);
        on.add(one);
    }
    void waits(uint64_t begin, uint64_t end, uint64_t queued, uint32_t tid, std::string reason,
               uint32_t waker = 0, bool timed = false) {
        on.add({Kind::wait, begin, end, 1, tid, -1, 0, queued, std::move(reason), waker, timed});
    }
    void calls(uint64_t begin, uint64_t end, std::string name, uint32_t tid = 1) {
        on.add({Kind::call, begin, end, 1, tid, -1, 0, 0, std::move(name)});
    }
    uint64_t part(const Request& one, std::string_view name) {
        Parts parts = on.parts();
        return one.parts[parts.index(name)];
    }
};

const std::string kGet = "GET /a?x=1 HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string kOther = "GET /b HTTP/1.1\r\n\r\n";
const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";

uint64_t sum(const PartTimes& parts) {
    uint64_t all = 0;
    for (uint64_t one : parts) all += one;
    return all;
}

TEST_F(Server, what_is_encrypted_is_known_by_what_it_was_before) {
    const std::string hello = "\x16\x03\x01", secret = "\x17\x03\x03";
    const std::string kLong = "GET /" + std::string(250, 'a');  // the rest of the line is not known
    constexpr int64_t kSsl = 0x7f0000001000;
    auto one_request = [&](uint32_t pid) {
        happens(Kind::accept, 10, pid, 5);
        happens(Kind::receive, 20, pid, 5, hello);
        happens(Kind::send, 30, pid, 5, hello);
        happens(Kind::receive, 40, pid, 5, secret);
        on.add({Kind::receive, 41, 41, pid, pid, kSsl, 400, 0, kLong});
        happens(Kind::send, 50, pid, kSsl, kOk);
        happens(Kind::send, 51, pid, kSsl, "ok");
        happens(Kind::send, 52, pid, 5, secret);
        happens(Kind::close, 60, pid, kSsl);
        happens(Kind::close, 61, pid, 5);
    };
    happens(Kind::tls, 15, 1, -1);
    one_request(1);
    ASSERT_EQ(taken.answered.size(), 1u);
    EXPECT_EQ(taken.answered[0].endpoint, kLong);
    EXPECT_EQ(taken.answered[0].duration_ns(), 10u);
    // Another process' OpenSSL is not known.
    one_request(2);
    ASSERT_EQ(taken.answered.size(), 4u);
    EXPECT_EQ(taken.answered[1].endpoint, "(TLS)");
    EXPECT_TRUE(taken.closed.empty());
}

TEST_F(Server, marks_tell_which_request_a_thread_works_for) {
    auto marks = [&](uint64_t at, uint64_t request, uint32_t tid = 1) {
        ServeEvent one{Kind::mark, at, at, 1, tid};
        one.request = request;
        on.add(one);
    };
    auto answers = [&](uint64_t at, int64_t fd) {
        on.add({Kind::send, at, at, 1, 1, fd, kOk.size() + 2, 0, kOk + "ok"});
    };
    for (int64_t fd : {5, 6}) happens(Kind::accept, 10, 1, fd);
    happens(Kind::receive, 100, 1, 5, kGet);
    happens(Kind::receive, 110, 1, 6, kOther);
    marks(120, 77);  // of one of them: it is not known of which
    marks(150, 0);
    marks(150, 78);
    marks(180, 0);
    marks(185, 78, 9);  // another thread takes it
    waits(190, 290, 0, 9, "disk");
    marks(300, 0, 9);
    waits(180, 310, 0, 1, "poll");
    marks(310, 78);
    answers(320, 6);
    marks(330, 77);
    answers(340, 5);
    on.finish();
    ASSERT_EQ(taken.answered.size(), 2u);
    const Request& b = taken.answered[0];
    EXPECT_EQ(b.endpoint, "GET /b");
    EXPECT_EQ(b.parts[Parts::shared], 0u);
    EXPECT_EQ(part(b, "disk"), 100u);
    EXPECT_EQ(part(b, "cpu"), 30u + 15 + 10);
    EXPECT_EQ(sum(b.parts), 210u);
    const Request& a = taken.answered[1];
    EXPECT_EQ(part(a, "disk"), 0u);
    EXPECT_EQ(part(a, "cpu"), 10u + 30 + 10);  // while it was the only one
    EXPECT_EQ(sum(a.parts), 240u);
}

TEST_F(Server, parts_of_rules_lie_in_each_other) {
    auto part_of_rule = [&](Kind kind, uint64_t at, std::string name = {}, uint32_t tid = 1) {
        on.add({kind, at, at, 1, tid, -1, 0, 0, std::move(name)});
    };
    part_of_rule(Kind::begin, 90, "model");  // of no request; its end is lost
    happens(Kind::accept, 95, 1, 5);
    happens(Kind::receive, 100, 1, 5, kGet);
    part_of_rule(Kind::begin, 110, "model");
    waits(120, 150, 10, 1, "lock");
    part_of_rule(Kind::begin, 160, "GPU wait");
    waits(165, 180, 0, 1, "device");
    part_of_rule(Kind::end, 190);
    part_of_rule(Kind::end, 195);
    part_of_rule(Kind::end, 196);  // one too many
    on.add({Kind::send, 200, 230, 1, 1, 5, kOk.size() + 2, 0, kOk + "ok"});
    ASSERT_EQ(taken.answered.size(), 1u);
    const Request& one = taken.answered[0];
    EXPECT_EQ(part(one, "model"), 10u + 20 + 10 + 5);
    EXPECT_EQ(part(one, "run queue"), 10u);
    EXPECT_EQ(part(one, "GPU wait"), 30u);
    EXPECT_EQ(part(one, "sending"), 30u);
    EXPECT_EQ(part(one, "cpu"), 10u + 5);
    EXPECT_EQ(sum(one.parts), 130u);
}

TEST_F(Server, keep_alive_and_where_the_time_went) {
    happens(Kind::accept, 10, 1, 5);
    happens(Kind::receive, 100, 1, 5, kGet);
    waits(110, 150, 15, 1, "disk");
    happens(Kind::send, 160, 1, 5, kOk);
    happens(Kind::send, 170, 1, 5, "ok");
    happens(Kind::receive, 300, 1, 5, "HEAD /b HTTP/1.1\r\n\r\n");
    happens(Kind::send, 350, 1, 5, "HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n");
    ASSERT_EQ(taken.answered.size(), 2u);
    const Request& first = taken.answered[0];
    EXPECT_EQ(first.endpoint, "GET /a");
    EXPECT_EQ(first.status, 200u);
    EXPECT_EQ(first.duration_ns(), 70u);
    EXPECT_EQ(first.bytes_in, kGet.size());
    EXPECT_EQ(first.bytes_out, kOk.size() + 2);
    EXPECT_EQ(part(first, "disk"), 25u);
    EXPECT_EQ(part(first, "run queue"), 15u);
    EXPECT_EQ(part(first, "cpu"), 30u);
    EXPECT_EQ(taken.answered[1].status, 503u);
    EXPECT_EQ(taken.answered[1].duration_ns(), 50u);
}

TEST_F(Server, calls_are_those_of_the_request_that_was_open) {
    happens(Kind::accept, 10, 1, 5);
    calls(20, 100, "recvfrom");
    happens(Kind::receive, 100, 1, 5, kGet);
    calls(110, 120, "write");
    calls(130, 160, "sendto");
    happens(Kind::send, 160, 1, 5, "HTTP/1.1 200 OK\r\n\r\n");
    calls(165, 170, "write");
    calls(175, 190, "sendto");
    happens(Kind::send, 190, 1, 5, "more");
    calls(195, 196, "close");
    happens(Kind::close, 197, 1, 5);
    ASSERT_EQ(taken.answered.size(), 1u);
    const SyscallUses& found = taken.answered[0].calls;
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found.at("write").calls, 2u);
    EXPECT_EQ(found.at("write").time_ns, 15u);
    EXPECT_EQ(found.at("sendto").calls, 2u);
    EXPECT_EQ(found.at("sendto").time_ns, 45u);
    EXPECT_TRUE(on.shared_calls().empty());
}

TEST_F(Server, calls_while_requests_of_several_endpoints_are_open_are_shared) {
    happens(Kind::accept, 10, 1, 5);
    happens(Kind::accept, 11, 1, 6);
    happens(Kind::receive, 100, 1, 5, kGet);
    happens(Kind::receive, 110, 1, 6, kGet);
    calls(120, 130, "write");
    happens(Kind::accept, 131, 1, 7);
    happens(Kind::receive, 140, 1, 7, kOther);
    calls(150, 170, "write");
    for (int64_t fd : {5, 6, 7}) {
        happens(Kind::send, 200, 1, fd, kOk);
        happens(Kind::send, 201, 1, fd, "ok");
    }
    ASSERT_EQ(taken.answered.size(), 3u);
    EXPECT_EQ(taken.answered[0].calls.at("write").time_ns, 10u);
    EXPECT_TRUE(taken.answered[2].calls.empty());
    EXPECT_EQ(on.shared_calls().at("write").calls, 1u);
    EXPECT_EQ(on.shared_calls().at("write").time_ns, 20u);
}

TEST_F(Server, an_answer_of_unknown_length_is_over_with_the_next_request) {
    happens(Kind::accept, 10, 1, 5);
    happens(Kind::receive, 100, 1, 5, kGet);
    happens(Kind::send, 160, 1, 5, "HTTP/1.1 200 OK\r\n\r\n");
    waits(165, 175, 0, 1, "lock");
    happens(Kind::send, 190, 1, 5, "more");
    waits(195, 205, 0, 1, "poll");
    EXPECT_TRUE(taken.answered.empty());
    happens(Kind::receive, 210, 1, 5, kGet);
    ASSERT_EQ(taken.answered.size(), 1u);
    EXPECT_EQ(taken.answered[0].duration_ns(), 90u);
    EXPECT_EQ(sum(taken.answered[0].parts), 90u);
    EXPECT_EQ(part(taken.answered[0], "lock"), 10u);
    EXPECT_EQ(part(taken.answered[0], "poll"), 0u);
}

TEST_F(Server, pipelined_requests_are_answered_in_order) {
    happens(Kind::accept, 10, 1, 5);
    happens(Kind::receive, 100, 1, 5, "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n");
    happens(Kind::send, 150, 1, 5, kOk + "ok");
    happens(Kind::send, 180, 1, 5, kOk + "ok");
    ASSERT_EQ(taken.answered.size(), 2u);
    EXPECT_EQ(taken.answered[0].endpoint, "GET /a");
    EXPECT_EQ(taken.answered[0].duration_ns(), 50u);
    EXPECT_EQ(taken.answered[1].endpoint, "GET /b");
    EXPECT_EQ(taken.answered[1].duration_ns(), 80u);
}

TEST_F(Server, a_split_request_line_and_a_body) {
    happens(Kind::accept, 10, 1, 5);
    happens(Kind::receive, 100, 1, 5, "POS");
    happens(Kind::receive, 110, 1, 5, "T /p HTTP/1.1\r\nContent-length: 20\r\n\r\n");
    happens(Kind::receive, 120, 1, 5, "GET /x HTTP/1.1\r\n\r\n.");  // is the body
    happens(Kind::send, 150, 1, 5, kOk + "ok");
    ASSERT_EQ(taken.answered.size(), 1u);
    EXPECT_EQ(taken.answered[0].endpoint, "POST /p");
    EXPECT_EQ(taken.answered[0].duration_ns(), 50u);
    EXPECT_EQ(sum(taken.answered[0].parts), 50u);
}

TEST_F(Server, closed_without_an_answer_and_the_descriptor_used_again) {
    happens(Kind::accept, 10, 1, 5);
    happens(Kind::receive, 100, 1, 5, kGet);
    EXPECT_EQ(on.open(200, 50).overdue, 1u);
    EXPECT_EQ(on.open(200, 500).waiting, 1u);
    happens(Kind::close, 110, 1, 5);
    EXPECT_EQ(taken.closed.size(), 1u);
    happens(Kind::send, 120, 1, 5, kOk);  // by what else has the descriptor
    happens(Kind::accept, 130, 1, 5);
    happens(Kind::receive, 140, 1, 5, kGet);
    happens(Kind::send, 150, 1, 5, kOk + "ok");
    ASSERT_EQ(taken.answered.size(), 1u);
    EXPECT_EQ(taken.answered[0].duration_ns(), 10u);
}

TEST_F(Server, two_workers_with_the_same_descriptor) {
    for (uint32_t pid : {1u, 2u}) happens(Kind::accept, 10, pid, 5);
    for (uint32_t pid : {1u, 2u}) happens(Kind::receive, 100 * pid, pid, 5, kGet);
    for (uint32_t pid : {1u, 2u}) happens(Kind::send, 1000 * pid, pid, 5, kOk + "ok");
    ASSERT_EQ(taken.answered.size(), 2u);
    EXPECT_EQ(taken.answered[0].duration_ns(), 900u);
    EXPECT_EQ(part(taken.answered[1], "cpu"), 1800u);
}

TEST_F(Server, two_at_once_on_a_thread_share_but_for_its_idle_time) {
    for (int64_t fd : {5, 6}) happens(Kind::accept, 10, 1, fd);
    happens(Kind::receive, 100, 1, 5, kGet);
    happens(Kind::receive, 120, 1, 6, kOther);
    waits(130, 150, 0, 1, "poll");
    happens(Kind::send, 160, 1, 5, kOk + "ok");
    happens(Kind::send, 190, 1, 6, kOk + "ok");
    ASSERT_EQ(taken.answered.size(), 2u);
    EXPECT_EQ(part(taken.answered[0], "shared"), 20u);
    EXPECT_EQ(part(taken.answered[0], "poll"), 20u);
    EXPECT_EQ(part(taken.answered[0], "cpu"), 20u);
    EXPECT_EQ(part(taken.answered[1], "shared"), 20u);
    EXPECT_EQ(part(taken.answered[1], "cpu"), 30u);
}

TEST_F(Server, two_of_an_endpoint_have_the_same_share) {
    for (int64_t fd : {5, 6}) happens(Kind::accept, 10, 1, fd);
    happens(Kind::receive, 100, 1, 5, kGet);
    happens(Kind::receive, 120, 1, 6, kGet);
    happens(Kind::send, 160, 1, 5, kOk + "ok");
    happens(Kind::send, 190, 1, 6, kOk + "ok");
    ASSERT_EQ(taken.answered.size(), 2u);
    EXPECT_EQ(part(taken.answered[0], "cpu"), 20u + 20u);
    EXPECT_EQ(part(taken.answered[0], "event loop"), 20u);
    EXPECT_EQ(part(taken.answered[1], "cpu"), 20u + 30u);
    EXPECT_EQ(part(taken.answered[1], "event loop"), 20u);
}

// Thread 1 receives and sends, thread 7 works: it is woken by the one and wakes it from poll().
struct Pool : Server {
    void SetUp() override {
        for (int64_t fd : {5, 6}) happens(Kind::accept, 10, 1, fd);
        round(5, 100, kGet);  // since then 7 is known to be one
    }
    // 10 cpu, 5 run queue of 7, 20 disk, 25 cpu, 5 run queue of 1, 5 cpu.
    void round(int64_t fd, uint64_t at, const std::string& request, uint32_t worker = 7) {
        happens(Kind::receive, at, 1, fd, request);
        waits(50, at + 15, 5, worker, "lock", 1);
        waits(at + 20, at + 40, 0, worker, "disk");
        happens(Kind::send, at + 60, 1, 99, "x", worker);
        waits(at + 12, at + 65, 5, 1, "poll", worker);
        happens(Kind::send, at + 70, 1, fd, kOk + "ok");
    }
};

TEST_F(Pool, what_the_worker_does_is_the_requests_time) {
    round(5, 1000, kGet);
    waits(1062, 1090, 0, 7, "lock", 3, true);  // an interpreter's lock, and idle from then on
    round(5, 2000, kGet);
    on.finish();
    ASSERT_EQ(taken.answered.size(), 3u);
    for (const Request& one : taken.answered) {
        EXPECT_EQ(part(one, "disk"), 20u);
        EXPECT_EQ(part(one, "run queue"), 5u + 5u);
        EXPECT_EQ(part(one, "cpu"), 10u + 5u + 20u + 5u);
        EXPECT_EQ(part(one, "poll"), 0u);
        EXPECT_EQ(sum(one.parts), 70u);
    }
}

TEST_F(Pool, work_goes_on_after_its_request_for_nobody) {
    happens(Kind::receive, 1000, 1, 5, kGet);
    waits(500, 1010, 0, 7, "lock", 1);
    waits(1005, 1050, 0, 1, "poll");
    happens(Kind::send, 1060, 1, 5, kOk + "ok");  // 7 goes on
    happens(Kind::receive, 2000, 1, 6, kGet);
    waits(2005, 2090, 0, 1, "poll");
    happens(Kind::send, 2100, 1, 6, kOk + "ok");
    waits(1500, 3000, 0, 7, "disk");
    ASSERT_EQ(taken.answered.size(), 3u);
    EXPECT_EQ(part(taken.answered[1], "cpu"), 5u + 50u);
    EXPECT_EQ(part(taken.answered[1], "poll"), 5u);
    EXPECT_EQ(part(taken.answered[2], "disk"), 0u);
    EXPECT_EQ(part(taken.answered[2], "poll"), 85u);
}

TEST_F(Pool, whose_work_it_is_is_known_where_the_other_request_is_with_another_worker) {
    round(5, 300, kGet, 8);
    happens(Kind::receive, 1000, 1, 5, kGet);
    waits(900, 1000, 0, 7, "lock", 1);
    happens(Kind::receive, 1010, 1, 6, kOther);
    waits(900, 1010, 0, 8, "lock", 1);
    waits(1000, 1100, 0, 7, "disk");
    waits(1010, 1100, 0, 1, "poll", 7);  // 7 has done its work, 8 goes on
    waits(1010, 1200, 0, 8, "sleep");
    waits(1110, 1200, 0, 1, "poll", 8);
    happens(Kind::send, 1200, 1, 5, kOk + "ok");
    happens(Kind::send, 1200, 1, 6, kOk + "ok");
    on.finish();
    ASSERT_EQ(taken.answered.size(), 4u);
    EXPECT_EQ(part(taken.answered[2], "disk"), 100u);
    EXPECT_EQ(part(taken.answered[2], "cpu"), 10u);
    EXPECT_EQ(part(taken.answered[2], "poll"), 90u);
    EXPECT_EQ(part(taken.answered[3], "sleep"), 190u);
}

TEST_F(Pool, of_several_requests_it_is_known_whose_only_if_they_are_alike) {
    happens(Kind::receive, 1000, 1, 5, kGet);
    happens(Kind::receive, 1000, 1, 6, kOther);
    waits(500, 1010, 0, 7, "lock", 1);
    waits(1010, 1110, 0, 7, "disk");
    waits(1010, 1110, 0, 1, "poll", 7);
    happens(Kind::send, 1110, 1, 5, kOk + "ok");
    happens(Kind::send, 1110, 1, 6, kOk + "ok");
    happens(Kind::receive, 2000, 1, 5, kGet);
    happens(Kind::receive, 2000, 1, 6, kGet);
    waits(1110, 2010, 0, 7, "lock", 1);
    waits(2010, 2110, 0, 7, "disk");
    waits(2010, 2110, 0, 1, "poll", 7);
    happens(Kind::send, 2110, 1, 5, kOk + "ok");
    happens(Kind::send, 2110, 1, 6, kOk + "ok");
    on.finish();
    ASSERT_EQ(taken.answered.size(), 5u);
    for (size_t i : {1, 2}) {
        EXPECT_EQ(part(taken.answered[i], "disk"), 0u);
        EXPECT_EQ(part(taken.answered[i], "shared"), 10u + 50u);
        EXPECT_EQ(part(taken.answered[i], "poll"), 50u);
    }
    for (size_t i : {3, 4}) {
        EXPECT_EQ(part(taken.answered[i], "disk"), 50u);
        EXPECT_EQ(part(taken.answered[i], "poll"), 50u);
        EXPECT_EQ(part(taken.answered[i], "shared"), 0u);
        EXPECT_EQ(sum(taken.answered[i].parts), 110u);
    }
}

TEST_F(Server, answered_by_another_thread_is_handed_over) {
    happens(Kind::accept, 10, 1, 5);
    happens(Kind::receive, 100, 1, 5, kGet);
    happens(Kind::send, 150, 1, 5, kOk + "ok", 7);
    ASSERT_EQ(taken.answered.size(), 1u);
    EXPECT_EQ(part(taken.answered[0], "handed over"), 50u);
    EXPECT_EQ(sum(taken.answered[0].parts), 50u);
}

TEST_F(Server, what_is_no_http_is_turns) {
    happens(Kind::accept, 10, 1, 5);
    happens(Kind::receive, 100, 1, 5, "\x16\x03\x01...");
    happens(Kind::send, 150, 1, 5, "...");
    happens(Kind::receive, 160, 1, 5, "more");
    happens(Kind::close, 170, 1, 5);
    ASSERT_EQ(taken.answered.size(), 1u);
    EXPECT_EQ(taken.answered[0].endpoint, "(TLS)");
    EXPECT_EQ(taken.closed.size(), 1u);
}

}  // namespace
}  // namespace mlbcc::report
