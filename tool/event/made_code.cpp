#include "event/made_code.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/read_file.h"

namespace mlbcc::event {
namespace {

constexpr size_t kMaxBytes = 256 << 20;
constexpr uint32_t kFreeTries = 8, kMaxBackoff = 32;
constexpr uint64_t kFileTickNs = 10'000'000;  // a file's times are no finer

bool is_written_since(const struct stat& status, uint64_t since_ns) {
    const timespec& written = status.st_mtim;
    const auto written_ns = static_cast<uint64_t>(written.tv_sec) * 1'000'000'000 +
                            static_cast<uint64_t>(written.tv_nsec);
    return written_ns + kFileTickNs >= since_ns;
}

// The process names the file after its id in its own pid namespace, the last of
// "NSpid:\t4711\t12" in its status.
std::string file_of(const MadeCode::Owner& owner) {
    std::string own = std::to_string(owner.pid);
    if (Result<std::string> status = read_file(owner.proc + "/status", 1 << 20)) {
        size_t at = status->find("\nNSpid:");
        if (at != std::string::npos) {
            std::string_view line = std::string_view(*status).substr(at + 1);
            line = line.substr(0, line.find('\n'));
            own = line.substr(line.find_last_of(" \t") + 1);
        }
    }
    return fmt::format("/tmp/perf-{}.map", own);
}

}  // namespace

bool Backoff::may_try() {
    if (++failures < next) return false;
    next = failures + (failures < kFreeTries ? 1 : std::min(failures, kMaxBackoff));
    return true;
}

std::optional<std::string> MadeCode::known(uint64_t address) const {
    const auto hit = map_.find(address - 1);
    if (!hit) return std::nullopt;
    return fmt::format("[jit]:{}+{:#x}", hit->name, address - hit->start);
}

std::optional<std::string> MadeCode::describe(const Owner& owner, uint64_t address) {
    std::optional<std::string> name = known(address);
    if (name || !backoff_.may_try()) return name;
    read(owner);
    name = known(address);
    if (name) backoff_.succeeded();
    return name;
}

void MadeCode::expect(const Owner& owner) {
    root_ = UniqueFd(::open((owner.proc + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    file_ = file_of(owner);
}

void MadeCode::read_last(const Owner& owner) {
    read(owner);
    root_.reset();
}

// Of a process that is gone unseen it is not known which root it had: most have the tracer's.
void MadeCode::read(const Owner& owner) {
    if (root_) {
        read_file_at(fmt::format("/proc/self/fd/{}{}", root_.get(), file_), 0);
    } else if (struct stat status{}; ::stat((owner.proc + "/root").c_str(), &status) == 0) {
        read_file_at(owner.proc + "/root" + file_of(owner), 0);
    } else if (owner.since_ns != 0) {
        read_file_at(fmt::format("/tmp/perf-{}.map", owner.pid), owner.since_ns);
    }
}

// Anybody may put something else of this name into /tmp, a pipe that never ends for one; and an
// older process may have had the number.
void MadeCode::read_file_at(const std::string& path, uint64_t since_ns) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    if (since_ns != 0 && !is_written_since(status, since_ns)) return;
    if (static_cast<size_t>(status.st_size) == map_.bytes()) return;
    Result<std::string> text = read_file(path, kMaxBytes);
    if (text) map_ = PerfMap(std::move(*text));
}

}  // namespace mlbcc::event
