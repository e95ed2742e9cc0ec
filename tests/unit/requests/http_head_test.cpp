// First lines and lengths of HTTP/1 heads, as they arrive: whole, cut, or something else.
#include "requests/http_head.h"

#include <gtest/gtest.h>

namespace mlbcc::requests {
namespace {

TEST(HttpHead, ARequestHasAMethodAPathWithoutItsQueryAndALength) {
    HttpHead head;
    const std::string text = "POST /predict?user=1#x HTTP/1.1\r\ncontent-LENGTH:  12\r\n\r\n";
    ASSERT_EQ(read_request(text + "twelve bytes", head), FirstLine::whole);
    EXPECT_EQ(head.method, "POST");
    EXPECT_EQ(head.path, "/predict");
    EXPECT_EQ(head.content_length, 12u);
    EXPECT_EQ(head.size, text.size());
}

TEST(HttpHead, OfAHeadThatGoesOnTheLengthIsNotKnown) {
    HttpHead head;
    EXPECT_EQ(read_request("GET / HTTP/1.1\r\nContent-Length: 3\r\nX: ", head), FirstLine::whole);
    EXPECT_FALSE(head.size);
    EXPECT_FALSE(head.content_length);
}

TEST(HttpHead, ARequestLineMayBeCut) {
    HttpHead head;
    for (const char* text : {"", "GE", "GET /a", "GET /a HTTP/1.1", "GET /a HTTP/1.1\r"})
        EXPECT_EQ(read_request(text, head), FirstLine::cut) << text;
    EXPECT_EQ(read_request("GET /long", head), FirstLine::cut);
    EXPECT_EQ(head.path, "/long");
}

TEST(HttpHead, WhatIsNoRequest) {
    HttpHead head;
    for (const char* text : {"get / HTTP/1.1\r\n", "HTTP/1.1 200 OK\r\n", "\x16\x03\x01", " / \r\n",
                             "GET / SPDY/3\r\n", "GET\r\n", "ABCDEFGHIJKLMNOPQR / HTTP/1.1\r\n"})
        EXPECT_EQ(read_request(text, head), FirstLine::other) << text;
    // Neither is what a terminal would take for an order.
    EXPECT_EQ(read_request("GET /\x1b[2J HTTP/1.1\r\n", head), FirstLine::other);
}

TEST(HttpHead, AnAnswerHasAStatus) {
    HttpHead head;
    ASSERT_EQ(read_answer("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", head),
              FirstLine::whole);
    EXPECT_EQ(head.status, 404);
    EXPECT_EQ(head.content_length, 0u);
    EXPECT_EQ(read_answer("HTTP/1.1 40", head), FirstLine::cut);
    EXPECT_EQ(read_answer("HTTP/1.1 abc", head), FirstLine::other);
    EXPECT_EQ(read_answer("<html>", head), FirstLine::other);
}

TEST(HttpHead, OtherProtocolsAreToldByHowTheyBegin) {
    EXPECT_EQ(protocol_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "HTTP/2");
    EXPECT_EQ(protocol_of("\x16\x03\x01\x02"), "TLS");
    EXPECT_EQ(protocol_of("*1\r\n$4\r\nPING\r\n"), "not HTTP");
}

}  // namespace
}  // namespace mlbcc::requests
