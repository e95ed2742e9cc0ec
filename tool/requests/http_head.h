// The first bytes of an HTTP/1 message to its first line and the length of what follows its
// headers:
//
//   GET /items?page=2 HTTP/1.1\r\n...  ->  "GET", "/items"          (RFC 9112, 3)
//   HTTP/1.1 404 Not Found\r\n...      ->  404                      (RFC 9112, 4)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mlbcc::requests {

struct HttpHead {
    std::string method, path;  // of a request; without the query
    unsigned status = 0;       // of an answer
    // Bytes of the first line and the headers; nothing if their end is not among those given.
    std::optional<size_t> size;
    // Nothing too where the headers' end is not known.
    std::optional<uint64_t> content_length;
};

enum class FirstLine { whole, cut, other };  // `cut`: what is there may become one

FirstLine read_request(std::string_view text, HttpHead& out);
FirstLine read_answer(std::string_view text, HttpHead& out);
// What the first bytes of a connection say that it speaks, where it is no HTTP/1: "TLS", "HTTP/2",
// "not HTTP".
std::string_view protocol_of(std::string_view text);

}  // namespace mlbcc::requests
