#include "terminal/captured_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/write_all.h"

namespace mlbcc::terminal {
namespace {

constexpr int64_t kTail = 4096;

std::string read_at(int fd, int64_t at, size_t size) {
    std::string text(size, '\0');
    ssize_t got = ::pread(fd, text.data(), size, at);
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
}

}  // namespace

Result<CapturedOutput> CapturedOutput::begin() {
    CapturedOutput made;
    std::error_code code;
    std::filesystem::path folder = std::filesystem::temp_directory_path(code);
    made.path_ = ((code ? "/tmp" : folder) / "mlbcc_output_XXXXXX").string();
    made.file_.reset(::mkostemp(made.path_.data(), O_APPEND | O_CLOEXEC));
    if (!made.file_) return system_error("cannot make a file for the program's output");
    UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    std::fflush(nullptr);
    for (int stream = 0; stream < 3; ++stream) {
        if (::isatty(stream) != 1) continue;
        made.streams_[stream].reset(::fcntl(stream, F_DUPFD_CLOEXEC, 3));
        ::dup2(stream == 0 ? nothing.get() : made.file_.get(), stream);
    }
    return made;
}

CapturedOutput::~CapturedOutput() {
    if (!file_) return;  // moved from
    give_back();
    show_rest();
    if (!leaves_file_) ::unlink(path_.c_str());
}

std::vector<std::string> CapturedOutput::last_lines() const {
    struct stat about {};
    ::fstat(file_.get(), &about);
    const int64_t from = about.st_size > kTail ? about.st_size - kTail : 0;
    std::vector<std::string> lines(1);
    for (char c : read_at(file_.get(), from, kTail)) {
        if (c == '\n') {
            lines.emplace_back();
        } else if (c != '\r') {
            lines.back() += c;
        }
    }
    if (lines.back().empty()) lines.pop_back();
    return lines;
}

void CapturedOutput::give_back() {
    if (is_given_back_) return;
    is_given_back_ = true;
    std::fflush(nullptr);
    for (int stream = 0; stream < 3; ++stream) {
        if (streams_[stream]) ::dup2(streams_[stream].get(), stream);
    }
    show_rest();
}

void CapturedOutput::show_rest() {
    const int to = streams_[1] ? STDOUT_FILENO : STDERR_FILENO;
    while (true) {
        std::string text = read_at(file_.get(), shown_, 65536);
        if (text.empty() || !write_all(to, text)) return;
        shown_ += static_cast<int64_t>(text.size());
    }
}

}  // namespace mlbcc::terminal
