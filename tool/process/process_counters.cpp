#include "process/process_counters.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "process/proc.h"

namespace mlbcc::process {
namespace {

constexpr size_t kMostThreads = 256;  // each has descriptors of its own

UniqueFd open_for(int tid, CounterEvent event) {
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    attr.type = event.type;
    attr.config = event.config;
    attr.inherit = 1;
    attr.inherit_thread = 1;  // not by processes that it starts: those have looks of their own
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return UniqueFd(
        static_cast<int>(::syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

// Nobody's: whatever the process, the next one gets the same answer.
bool is_absence(int error) {
    constexpr std::array kAbsent{ENOENT, ENODEV, EOPNOTSUPP, EINVAL, E2BIG, ENOSYS};
    return std::ranges::find(kAbsent, error) != kAbsent.end();
}

// Where there are fewer counters than wanted they take turns.
std::optional<uint64_t> value_of(int fd) {
    struct {
        uint64_t value, enabled_ns, running_ns;
    } read{};
    if (::read(fd, &read, sizeof(read)) != sizeof(read)) return {};
    if (read.running_ns == 0 || read.running_ns >= read.enabled_ns) return read.value;
    double part = static_cast<double>(read.running_ns) / static_cast<double>(read.enabled_ns);
    return static_cast<uint64_t>(static_cast<double>(read.value) / part);
}

}  // namespace

// A thread that ends meanwhile is none of them.
std::vector<UniqueFd> ProcessCounters::open(int pid, CounterEvent event) {
    std::vector<UniqueFd> made;
    const Result<std::vector<int>> threads = threads_of(pid);
    if (!threads || threads->size() > kMostThreads) return made;
    for (int tid : *threads) {
        UniqueFd fd = open_for(tid, event);
        if (fd) {
            made.push_back(std::move(fd));
        } else if (errno != ESRCH) {
            if (is_absence(errno)) absent_.insert(event);
            return {};
        }
    }
    return made;
}

std::optional<uint64_t> ProcessCounters::read(int pid, uint64_t started, CounterEvent event) {
    if (absent_.contains(event)) return {};
    Process& process = processes_[pid];
    if (process.started != started) process = {started, {}};
    auto [found, is_first] = process.open.try_emplace(event);
    if (is_first) found->second = open(pid, event);
    if (found->second.empty()) return {};
    uint64_t sum = 0;
    for (const UniqueFd& fd : found->second) {
        auto value = value_of(fd.get());
        if (!value) return {};
        sum += *value;
    }
    return sum;
}

void ProcessCounters::keep_only(const std::vector<int>& pids) {
    std::erase_if(processes_,
                  [&](const auto& one) { return !std::ranges::binary_search(pids, one.first); });
}

}  // namespace mlbcc::process
