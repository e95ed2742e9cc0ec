#include "process/proc.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>

#include "base/fields.h"
#include "base/living_thread.h"
#include "base/read_file.h"

namespace mlbcc::process {

namespace {

constexpr uint64_t kInitialPidNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO, linux/proc_ns.h
constexpr size_t kMaxBytes = 64 << 20;                 // of a file of /proc
constexpr std::string_view kTgidField = "\nTgid:\t";   // of /proc/PID/status

// The names in a folder that are numbers, ascending.
Result<std::vector<int>> numbered_entries(const std::string& directory) {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(directory.c_str()), closedir);
    if (stream == nullptr) return system_error(fmt::format("cannot read {}", directory));
    std::vector<int> numbers;
    while (const dirent* entry = readdir(stream.get())) {
        if (const auto number = to_number<int>(entry->d_name)) numbers.push_back(*number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

constexpr int kFirstBehindParent = 5, kChildrenUserTime = 16, kChildrenSystemTime = 17;

// /proc/PID/stat: `70 (any (name) at all) S 1 70 ...`
struct Stat {
    std::string comm;
    char state = '?';
    int parent = 0;
    uint64_t children_ticks = 0;  // of CPU time, of those that it has waited for
};
std::optional<Stat> read_stat(const std::string& folder) {
    const Result<std::string> read = read_file(folder + "/stat", kMaxBytes);
    if (!read) return std::nullopt;
    const std::string_view text = *read;
    const size_t open = text.find('('), close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
    std::string_view rest = text.substr(std::min(close + 2, text.size()));
    const std::string_view state = take_until(rest, ' ');
    const auto parent = to_number<int>(take_until(rest, ' '));
    if (state.empty() || !parent) return std::nullopt;
    Stat stat{std::string(text.substr(open + 1, close - open - 1)), state.front(), *parent};
    for (int column = kFirstBehindParent; column <= kChildrenSystemTime; ++column) {
        const auto value = to_number<uint64_t>(take_until(rest, ' '));
        if (column >= kChildrenUserTime) stat.children_ticks += value.value_or(0);
    }
    return stat;
}
std::optional<Stat> stat_of(int pid) {
    return read_stat(fmt::format("/proc/{}", pid));
}

// Of the call in /proc/PID/task/TID/syscall: `202 0x7f12 0x80 0x0 0x0 0x0 0x0 0x7ffc 0x7f12`.
void read_call(const std::string& folder, SleepingThread& thread) {
    const Result<std::string> read = read_file(folder + "/syscall", kMaxBytes);
    if (!read) return;
    std::string_view text = *read;
    const auto number = to_number<int>(take_until(text, ' '));
    if (!number || *number < 0) return;
    thread.system_call = *number;
    for (uint64_t& argument : thread.arguments) {
        std::string_view digits = take_until(text, ' ');
        digits.remove_prefix(std::min<size_t>(2, digits.size()));
        argument = to_number<uint64_t>(digits, 16).value_or(0);
    }
    struct stat status;
    const std::string file = fmt::format("{}/fd/{}", folder, thread.arguments[0]);
    if (stat(file.c_str(), &status) == 0) thread.file = status.st_mode & S_IFMT;
}

}  // namespace

Result<std::vector<Mapping>> read_maps(int pid) {
    const Result<std::string> text =
        read_file(fmt::format("/proc/{}/maps", living_thread(pid)), kMaxBytes);
    if (!text) return text.error();
    return parse_maps(*text);
}

Result<std::vector<int>> threads_of(int pid) {
    return numbered_entries(fmt::format("/proc/{}/task", pid));
}

Result<std::vector<int>> all_processes() {
    return numbered_entries("/proc");
}

std::vector<int> descendants_of(int pid) {
    const Result<std::vector<int>> all = all_processes();
    if (!all) return {};
    std::multimap<int, int> children;  // by parent
    for (const int process : *all) {
        if (const auto parent = parent_of(process)) children.emplace(*parent, process);
    }
    std::vector<int> found{pid};
    for (size_t i = 0; i < found.size(); i++) {
        const auto [begin, end] = children.equal_range(found[i]);
        for (auto child = begin; child != end; ++child) found.push_back(child->second);
        children.erase(begin, end);  // ids that were reused meanwhile must not make a circle
    }
    found.erase(found.begin());
    return found;
}

std::optional<std::string> comm_of(int pid) {
    Result<std::string> comm = read_file(fmt::format("/proc/{}/comm", pid), kMaxBytes);
    if (!comm) return std::nullopt;
    if (comm->ends_with('\n')) comm->pop_back();
    return std::move(comm).value();
}

std::optional<int> parent_of(int pid) {
    const auto stat = stat_of(pid);
    return stat ? std::optional(stat->parent) : std::nullopt;
}

bool is_alive(int pid) {
    const auto stat = stat_of(pid);
    if (!stat || stat->state == 'X') return false;
    if (stat->state != 'Z') return true;
    const Result<std::vector<int>> threads = threads_of(pid);
    return threads && threads->size() > 1;
}

std::optional<SleepingThread> sleeping_thread(int pid, int tid) {
    const std::string folder = fmt::format("/proc/{}/task/{}", pid, tid);
    const std::optional<Stat> stat = read_stat(folder);
    if (!stat || std::string_view("SDTt").find(stat->state) == std::string_view::npos)
        return std::nullopt;
    SleepingThread thread{stat->comm, stat->state};
    read_call(folder, thread);
    return thread;
}

std::string cpu_model() {
    const Result<std::string> text = read_file("/proc/cpuinfo", kMaxBytes);
    constexpr std::string_view kName = "\nmodel name\t: ";
    const size_t at = text ? text->find(kName) : std::string::npos;
    if (at == std::string::npos) return {};
    const size_t begin = at + kName.size();
    return text->substr(begin, text->find('\n', begin) - begin);
}

std::optional<uint64_t> cpu_time_of(int pid) {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return std::nullopt;
    const std::optional<Stat> stat = stat_of(pid);
    if (!stat) return std::nullopt;
    constexpr uint64_t kSecond = 1'000'000'000;
    const auto tick_ns = kSecond / static_cast<uint64_t>(std::max(1L, sysconf(_SC_CLK_TCK)));
    return static_cast<uint64_t>(time.tv_sec) * kSecond + static_cast<uint64_t>(time.tv_nsec) +
           stat->children_ticks * tick_ns;
}

std::optional<int> process_of(int tid) {
    const Result<std::string> read = read_file(fmt::format("/proc/{}/status", tid), kMaxBytes);
    if (!read) return std::nullopt;
    const size_t at = read->find(kTgidField);
    if (at == std::string::npos) return std::nullopt;
    std::string_view rest = std::string_view(*read).substr(at + kTgidField.size());
    return to_number<int>(take_until(rest, '\n'));
}

int64_t clock_offset_ns(std::string_view text) {
    constexpr std::string_view kName = "monotonic";
    constexpr int64_t kSecond = 1'000'000'000;
    const size_t at = text.find(kName);
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + kName.size());
    std::string_view line = take_until(text, '\n');
    const auto next = [&line] {
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        return to_number<int64_t>(take_until(line, ' ')).value_or(0);
    };
    const int64_t seconds = next();
    return seconds * kSecond + next();
}

int64_t own_clock_offset_ns() {
    const Result<std::string> text = read_file("/proc/self/timens_offsets", kMaxBytes);
    return text ? clock_offset_ns(*text) : 0;
}

Result<PidNamespace> own_pid_namespace() {
    struct stat status;
    if (stat("/proc/self/ns/pid", &status) != 0) {
        return system_error("cannot stat /proc/self/ns/pid", "mount /proc");
    }
    return PidNamespace{status.st_dev, status.st_ino, status.st_ino == kInitialPidNamespace};
}

}  // namespace mlbcc::process
