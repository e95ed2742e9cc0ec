// Bytes on connections to requests.
#include "requests/server.h"

namespace mlbcc::requests {
namespace {

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
}  // namespace mlbcc::requests
