#include "symbols/made_code.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/living_thread.h"
#include "base/open_file.h"
#include "base/read_file.h"

namespace mlbcc::symbols {
namespace {

constexpr uint32_t kFreeTries = 8, kMaxBackoff = 32;
constexpr uint64_t kFileTickNs = 10'000'000;  // a file's times may be so much too early

uint64_t written_ns(const struct stat& status) {
    const timespec& written = status.st_mtim;
    return static_cast<uint64_t>(written.tv_sec) * 1'000'000'000 +
           static_cast<uint64_t>(written.tv_nsec);
}

// The numbers of a line of /proc/PID/status: "Uid:\t1000\t1000\t1000\t1000".
std::vector<uint32_t> numbers_of(std::string_view status, std::string_view name) {
    std::vector<uint32_t> numbers;
    const size_t at = status.find(name);
    if (at == status.npos) return numbers;
    std::string_view line = status.substr(at + name.size());
    line = line.substr(0, line.find('\n'));
    while (!line.empty()) {
        uint32_t number = 0;
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
        if (error == std::errc()) numbers.push_back(number);
        line.remove_prefix(std::max<size_t>(1, static_cast<size_t>(end - line.data())));
    }
    return numbers;
}

UniqueFd open_folder(const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

UniqueFd root_of(const MadeCode::Owner& owner) {
    const int thread = living_thread(owner.proc, static_cast<int>(owner.pid));
    return open_folder(fmt::format("{}/{}/root", owner.proc, thread));
}

std::string name_of(uint32_t pid) {
    return fmt::format("/tmp/perf-{}.map", pid);
}

// From `begin` on; at most as much as may be used of it, the newest.
std::string read_from(int fd, uint64_t begin, uint64_t size) {
    const uint64_t skipped = size - std::min<uint64_t>(size, PerfMap::kMaxBytes);
    if (::lseek(fd, static_cast<off_t>(std::max(begin, skipped)), SEEK_SET) < 0) return {};
    Result<std::string> text = read_file(fd, "a perf map", 2 * PerfMap::kMaxBytes);
    if (!text) return {};
    if (skipped > begin) text->erase(0, text->find('\n'));  // of a line the end
    return std::move(*text);
}

}  // namespace

bool Backoff::may_try() {
    if (++failures < next) return false;
    next = failures + (failures < kFreeTries ? 1 : std::min(failures, kMaxBackoff));
    return true;
}

std::optional<std::string> MadeCode::known(uint64_t address, uint64_t time_ns) const {
    const auto hit = map_.find(address - 1, time_ns);
    if (!hit) return std::nullopt;
    return fmt::format("[jit]:{}+{:#x}", hit->name, address - hit->start);
}

std::optional<std::string> MadeCode::describe(const Owner& owner, uint64_t address,
                                              uint64_t time_ns) {
    std::optional<std::string> name = known(address, time_ns);
    if (name || !backoff_.may_try()) return name;
    read(owner);
    name = known(address, time_ns);
    if (name) backoff_.succeeded();
    return name;
}

// The process names the file after its id in its own pid namespace, the last of
// "NSpid:\t4711\t12" in its status.
MadeCode::Place MadeCode::place_of(const Owner& owner) {
    const Result<std::string> status =
        read_file(fmt::format("{}/{}/status", owner.proc, owner.pid), 1 << 20);
    if (!status) return {name_of(owner.pid), {owner.user}};
    const std::vector<uint32_t> ids = numbers_of(*status, "\nNSpid:");
    return {name_of(ids.empty() ? owner.pid : ids.back()), numbers_of(*status, "\nUid:")};
}

void MadeCode::expect(const Owner& owner) {
    root_ = root_of(owner);
    place_ = place_of(owner);
}

void MadeCode::read_last(const Owner& owner) {
    is_over_ = true;
    read(owner);
    root_.reset();
}

// Of a process that is gone unseen it is not known which root it had: most have the tracer's.
void MadeCode::read(const Owner& owner) {
    const auto take_below = [&](int root, const Place& place, uint64_t since_ns) {
        take(open_file_below(root, place.path, Links::refuse), place, since_ns);
    };
    if (root_) return take_below(root_.get(), place_, 0);
    const Place place = place_of(owner);
    if (const UniqueFd root = root_of(owner)) return take_below(root.get(), place, 0);
    if (owner.since_ns != 0) take_below(open_folder("/").get(), place, owner.since_ns);
}

// An older process may have had the number.
void MadeCode::take(Result<UniqueFd> file, const Place& place, uint64_t since_ns) {
    struct stat status {};
    struct stat before {};
    if (!file || ::fstat(file->get(), &status) != 0) return;
    const bool is_own = std::ranges::find(place.users, status.st_uid) != place.users.end();
    if (!is_own || status.st_nlink != 1) return;  // another name of it may be a file of root's
    if (since_ns != 0 && written_ns(status) + kFileTickNs < since_ns) return;
    if (!file_ || ::fstat(file_.get(), &before) != 0 || !is_same_file(status, before)) {
        file_ = std::move(*file);
        bytes_ = 0;
    }
    read_on(status, 0);
}

std::optional<uint64_t> MadeCode::renamed(uint64_t epoch_ns, uint64_t now_ns) {
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) return std::nullopt;
    if (static_cast<uint64_t>(status.st_size) == bytes_) return std::nullopt;
    const uint64_t written = written_ns(status) + kFileTickNs;
    const uint64_t since = epoch_ns == 0 ? now_ns : written - std::min(written, epoch_ns);
    return read_on(status, since) ? std::optional(since) : std::nullopt;
}

// True where code is named anew. A file that is shorter than it was is another one.
bool MadeCode::read_on(const struct stat& status, uint64_t since_ns) {
    const auto size = static_cast<uint64_t>(status.st_size);
    if (size == bytes_) return false;
    const bool is_anew = size < bytes_ || size - bytes_ > PerfMap::kMaxBytes || map_.is_full();
    const uint64_t begin = is_anew ? 0 : bytes_;
    std::string text = read_from(file_.get(), begin, size);
    const size_t whole = is_over_ ? text.size() : text.rfind('\n') + 1;  // of its lines
    const off_t end = ::lseek(file_.get(), 0, SEEK_CUR);
    bytes_ = static_cast<uint64_t>(end) - (text.size() - whole);
    text.resize(whole);
    if (begin != 0) return map_.add(text, since_ns);
    map_ = PerfMap(text);
    return is_anew;
}

}  // namespace mlbcc::symbols
