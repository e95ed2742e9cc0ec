#include "saved/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <zstd.h>

namespace mlbcc::saved {
namespace {

constexpr size_t kBlock = 128 << 10;
constexpr uint64_t kTellEach = 4 << 20;  // bytes
// The four bytes that a frame begins with (RFC 8878, 3.1.1).
constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";

}  // namespace

struct Input::Unpacker {
    std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream{ZSTD_createDStream(),
                                                                    ZSTD_freeDStream};
};

Input::Input(UniqueFd fd, ReadProgress progress)
    : fd_(std::move(fd)), progress_(std::move(progress)) {
    struct stat status {};
    bool is_file = ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_file) size_ = static_cast<uint64_t>(status.st_size);
}
Input::Input(Input&&) noexcept = default;
Input::~Input() = default;

Result<Input> Input::open(const std::string& path, ReadProgress progress) {
    bool is_stdin = path == "-";
    UniqueFd fd(is_stdin ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                         : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return system_error(is_stdin ? "standard input" : path);
    Input input(std::move(fd), std::move(progress));
    if (is_stdin) input.size_.reset();  // it may stand anywhere
    if (auto begun = input.begin(); !begun) {
        Error error = begun.error();
        error.what = (is_stdin ? "standard input" : path) + ": " + error.what;
        return error;
    }
    return input;
}

// What a pipe begins with is read once, and given by the first read().
Result<void> Input::begin() {
    packed_.resize(kBlock);
    size_t have = 0;
    while (have < kMagic.size()) {
        Result<size_t> n = read_file({packed_.data() + have, packed_.size() - have});
        if (!n) return n.error();
        if (*n == 0) break;
        have += *n;
    }
    packed_.resize(have);
    if (std::string_view(packed_.data(), have).starts_with(kMagic)) {
        unpacker_ = std::make_unique<Unpacker>();
    }
    return {};
}

int Input::file() const {
    return size_ && !unpacker_ ? fd_.get() : -1;
}

Result<size_t> Input::read_file(std::span<char> into) {
    ssize_t n;
    do {
        n = ::read(fd_.get(), into.data(), into.size());
    } while (n < 0 && errno == EINTR);
    if (n < 0) return system_error("cannot read");
    done_ += static_cast<uint64_t>(n);
    if (progress_ && (done_ - told_ >= kTellEach || n == 0)) {
        told_ = done_;
        progress_(done_, size_);
    }
    return static_cast<size_t>(n);
}

Result<size_t> Input::read(std::span<char> into) {
    if (unpacker_) return unpack(into);
    if (at_ == packed_.size()) return read_file(into);
    size_t n = std::min(into.size(), packed_.size() - at_);
    std::memcpy(into.data(), packed_.data() + at_, n);
    at_ += n;
    return n;
}

Result<size_t> Input::unpack(std::span<char> into) {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (true) {
        ZSTD_inBuffer in{packed_.data(), packed_.size(), at_};
        size_t result = ZSTD_decompressStream(unpacker_->stream.get(), &out, &in);
        at_ = in.pos;
        if (ZSTD_isError(result) != 0) {
            return Error{fmt::format("cannot be unpacked: {}", ZSTD_getErrorName(result)), 0, {}};
        }
        if (out.pos > 0) return out.pos;
        if (at_ < packed_.size()) continue;
        packed_.resize(kBlock);
        at_ = 0;
        Result<size_t> n = read_file(packed_);
        if (!n) return n.error();
        packed_.resize(*n);
        if (*n == 0) return size_t{0};
    }
}

}  // namespace mlbcc::saved
