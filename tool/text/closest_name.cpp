#include <strings.h>

#include <algorithm>
#include <array>

#include "text/diagnostic.h"

namespace mlbcc {

namespace {

// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment), if they
// are no more than `limit`; otherwise some number that is greater.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
    std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    size_t least = 0;  // of the row before: a swap skips one
    for (size_t i = 1; i <= a.size(); ++i) {
        std::swap(before, previous);
        std::swap(previous, row);
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            size_t changed = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({changed, previous[j] + 1, row[j - 1] + 1});
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        const size_t now = *std::ranges::min_element(row);
        if (now > limit && least >= limit) return limit + 1;
        least = now;
    }
    return row[b.size()];
}

// What a name is made of, without regard to order. An edit takes one character away, adds one, or
// both; so the distance is at least what one name has more than the other. Most of the kernel's
// 50 000 names are told apart so, at a tenth of the cost.
class Characters {
public:
    explicit Characters(std::string_view name) {
        for (const char c : name) ++counts_[static_cast<unsigned char>(c)];
    }
    size_t least_distance(std::string_view other) {
        size_t common = 0;
        for (const char c : other) common += counts_[static_cast<unsigned char>(c)]-- > 0 ? 1 : 0;
        for (const char c : other) ++counts_[static_cast<unsigned char>(c)];
        return other.size() - common;  // of what `other` has more
    }

private:
    std::array<int, 256> counts_{};
};

size_t difference(size_t a, size_t b) {
    return a > b ? a - b : b - a;
}

}  // namespace

std::optional<std::string> closest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
    const std::string* best = nullptr;
    size_t limit = std::max<size_t>(name.size(), 3) / 3;
    Characters characters(name);
    for (const std::string& candidate : candidates) {
        if (candidate.size() == name.size() &&
            strncasecmp(candidate.data(), name.data(), name.size()) == 0) {
            return candidate;
        }
        if (difference(candidate.size(), name.size()) > limit) continue;
        if (characters.least_distance(candidate) > limit) continue;
        size_t distance = edit_distance(name, candidate, limit);
        if (distance > limit || distance >= name.size()) continue;
        best = &candidate;
        if (distance == 0) break;
        limit = distance - 1;  // a later one must be nearer
    }
    return best == nullptr ? std::nullopt : std::optional(*best);
}

}  // namespace mlbcc
