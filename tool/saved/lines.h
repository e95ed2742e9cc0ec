// A file to its lines, one after another and the last one at once; files may be larger than memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "saved/input.h"

namespace mlbcc::saved {

class Lines {
public:
    // `input` stays the caller's.
    explicit Lines(Input& input) : input_(input), buffer_(kBlock) {}

    // The next line without its newline, valid until the next call; nothing at the end of the
    // file. A line longer than kLongest is given cut, as the last one. Errors: as Input::read.
    Result<std::optional<std::string_view>> next();

    static constexpr size_t kLongest = 256 << 20;  // bytes

private:
    static constexpr size_t kBlock = 1 << 20;
    Result<void> read_more();
    std::string_view take(size_t length, size_t newline);

    Input& input_;
    std::vector<char> buffer_;
    size_t begin_ = 0, end_ = 0;  // of what is read and not yet given
    bool over_ = false;
};

// The last line of a regular file, however long the file is. Nothing if it is the only line, or if
// `fd` cannot be read in any order.
std::optional<std::string> last_line(int fd);

}  // namespace mlbcc::saved
