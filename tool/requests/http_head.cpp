#include "requests/http_head.h"

#include <algorithm>
#include <charconv>

namespace mlbcc::requests {
namespace {

constexpr std::string_view kEnd = "\r\n", kVersion = "HTTP/1.";
constexpr size_t kLongestMethod = 16;

bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

bool equal_without_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) {
        auto lower = [](char c) { return is_upper(c) ? static_cast<char>(c + 32) : c; };
        return lower(x) == lower(y);
    });
}

void read_header(std::string_view line, HttpHead& out) {
    size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    if (!equal_without_case(line.substr(0, colon), "content-length")) return;
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    uint64_t length = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), length).ec == std::errc{}) {
        out.content_length = length;
    }
}

// From the end of the first line.
void read_headers(std::string_view text, size_t at, HttpHead& out) {
    while (true) {
        size_t end = text.find(kEnd, at);
        if (end == std::string_view::npos) break;
        if (end == at) {
            out.size = end + kEnd.size();
            return;
        }
        read_header(text.substr(at, end - at), out);
        at = end + kEnd.size();
    }
    out.content_length.reset();
}

// Which a request line cannot have, and a terminal would follow.
bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::string_view without_query(std::string_view target) {
    return target.substr(0, std::min(target.find_first_of("?#"), target.size()));
}

}  // namespace

FirstLine read_request(std::string_view text, HttpHead& out) {
    out = {};
    size_t space = std::min(text.find(' '), text.size());
    if (space > kLongestMethod || !std::ranges::all_of(text.substr(0, space), is_upper)) {
        return FirstLine::other;
    }
    size_t end = text.find(kEnd);
    if (end != std::string_view::npos && (space == 0 || space > end)) return FirstLine::other;
    std::string_view rest = text.substr(std::min(space + 1, text.size()));
    size_t second = std::min(rest.find_first_of(" \r\n"), rest.size());
    if (std::ranges::any_of(rest.substr(0, second), is_control)) return FirstLine::other;
    out.method = text.substr(0, space);
    out.path = without_query(rest.substr(0, second));
    if (end == std::string_view::npos)
        return space == 0 && !text.empty() ? FirstLine::other : FirstLine::cut;
    std::string_view version = text.substr(0, end).substr(std::min(space + second + 2, end));
    if (!version.starts_with(kVersion)) return FirstLine::other;
    read_headers(text, end + kEnd.size(), out);
    return FirstLine::whole;
}

FirstLine read_answer(std::string_view text, HttpHead& out) {
    out = {};
    constexpr size_t kStatusAt = 9;  // HTTP/1.1 200
    if (!text.starts_with(kVersion)) return FirstLine::other;
    if (text.size() < kStatusAt + 3) return FirstLine::cut;
    const char* digits = text.data() + kStatusAt;
    if (std::from_chars(digits, digits + 3, out.status).ptr != digits + 3) return FirstLine::other;
    size_t end = text.find(kEnd);
    if (end != std::string_view::npos) read_headers(text, end + kEnd.size(), out);
    return FirstLine::whole;
}

std::string_view protocol_of(std::string_view text) {
    if (text.starts_with("PRI * HTTP/2")) return "HTTP/2";
    if (text.starts_with("\x16\x03")) return "TLS";
    return "not HTTP";
}

}  // namespace mlbcc::requests
