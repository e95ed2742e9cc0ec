#include "text/glob.h"

#include <optional>

namespace mlbcc {

namespace {

constexpr size_t kNoStar = std::string_view::npos;

struct Set {
    std::string_view members;  // "a-z_"
    bool negated = false;
    size_t length = 0;  // of the whole "[...]"
};

// "[!a-z]rest": a `]` that stands first is a member. A `[` that is never closed is no set.
std::optional<Set> set_at(std::string_view pattern) {
    if (pattern.empty() || pattern[0] != '[') return std::nullopt;
    size_t begin = 1;
    bool negated = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^');
    if (negated) ++begin;
    size_t close = pattern.find(']', begin + 1);
    if (close == std::string_view::npos) return std::nullopt;
    return Set{pattern.substr(begin, close - begin), negated, close + 1};
}

bool contains(std::string_view members, char c) {
    auto byte = [](char x) { return static_cast<unsigned char>(x); };
    for (size_t i = 0; i < members.size(); ++i) {
        bool range = i + 2 < members.size() && members[i + 1] == '-';
        if (!range && members[i] == c) return true;
        if (!range) continue;
        if (byte(members[i]) <= byte(c) && byte(c) <= byte(members[i + 2])) return true;
        i += 2;
    }
    return false;
}

// How many characters of `pattern` stand for `c`, 0 if it does not match.
size_t match_one(std::string_view pattern, char c) {
    if (pattern.empty()) return 0;
    if (pattern[0] == '?') return 1;
    if (auto set = set_at(pattern)) {
        return contains(set->members, c) != set->negated ? set->length : 0;
    }
    return pattern[0] == c ? 1 : 0;
}

}  // namespace

// After a mismatch only the last `*` need try again, one character further.
bool glob_match(std::string_view pattern, std::string_view name) {
    size_t p = 0, n = 0, star = kNoStar, star_name = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_name = n;
        } else if (size_t used = match_one(pattern.substr(p), name[n]); used > 0) {
            p += used;
            ++n;
        } else if (star != kNoStar) {
            p = star + 1;
            n = ++star_name;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool is_glob(std::string_view pattern) {
    for (size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '*' || pattern[i] == '?') return true;
        if (set_at(pattern.substr(i))) return true;
    }
    return false;
}

std::string escaped_glob(std::string_view text) {
    std::string pattern;
    for (const char c : text) {
        const bool special = c == '*' || c == '?' || c == '[';
        if (special) pattern += '[';
        pattern += c;
        if (special) pattern += ']';
    }
    return pattern;
}

}  // namespace mlbcc
