#include "saved/lines.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace mlbcc::saved {

std::string_view Lines::take(size_t length, size_t newline) {
    std::string_view line(buffer_.data() + begin_, length);
    begin_ += length + newline;
    return line;
}

Result<void> Lines::read_more() {
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == buffer_.size()) buffer_.resize(std::min(buffer_.size() * 2, kLongest));
    Result<size_t> n = input_.read({buffer_.data() + end_, buffer_.size() - end_});
    if (!n) return n.error();
    end_ += *n;
    over_ = *n == 0;
    return {};
}

Result<std::optional<std::string_view>> Lines::next() {
    size_t searched = 0;
    while (true) {
        std::string_view rest(buffer_.data() + begin_, end_ - begin_);
        size_t newline = rest.find('\n', searched);
        if (newline != std::string_view::npos) return std::optional(take(newline, 1));
        searched = rest.size();
        over_ = over_ || searched == kLongest;
        if (over_ && searched == 0) return std::optional<std::string_view>();
        if (over_) return std::optional(take(searched, 0));
        if (auto done = read_more(); !done) return done.error();
    }
}

std::optional<std::string> last_line(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return {};
    auto at = static_cast<size_t>(status.st_size);
    std::string tail;
    while (at > 0 && tail.size() < Lines::kLongest) {
        std::string block(std::min(at, std::max<size_t>(tail.size(), 64 << 10)), '\0');
        at -= block.size();
        ssize_t n = ::pread(fd, block.data(), block.size(), static_cast<off_t>(at));
        if (n != static_cast<ssize_t>(block.size())) return {};
        tail.insert(0, block);
        size_t end = tail.ends_with('\n') ? tail.size() - 1 : tail.size();
        size_t newline = end == 0 ? std::string::npos : tail.rfind('\n', end - 1);
        if (newline != std::string::npos) return tail.substr(newline + 1, end - newline - 1);
    }
    return {};
}

}  // namespace mlbcc::saved
