#include "files/read_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "base/unique_fd.h"

namespace mlbcc::files {

namespace {

constexpr size_t kBuffer = size_t{64} * 1024;

}  // namespace

Result<void> read_lines(const std::string& path,
                        const std::function<void(std::string_view)>& line) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return system_error(fmt::format("cannot open {}", path));
    std::string buffer(kBuffer, '\0');
    size_t held = 0;
    bool too_long = false;  // the beginning of the line that goes on here is gone
    while (true) {
        const ssize_t got = ::read(file.get(), buffer.data() + held, buffer.size() - held);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(fmt::format("cannot read {}", path));
        if (got == 0) break;
        std::string_view rest(buffer.data(), held + static_cast<size_t>(got));
        for (size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) {
            if (!too_long) line(rest.substr(0, end));
            too_long = false;
        }
        held = rest.size();
        std::memmove(buffer.data(), rest.data(), held);
        if (held < buffer.size()) continue;
        too_long = true;
        held = 0;
    }
    if (held > 0 && !too_long) line(std::string_view(buffer.data(), held));
    return {};
}

}  // namespace mlbcc::files
