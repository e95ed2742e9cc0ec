#include "process/process_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <memory>

#include <fmt/format.h>

#include "base/living_thread.h"
#include "base/unique_fd.h"

namespace mlbcc::process {
namespace {

using target::kProcessFields;
using target::ProcessSource;
using target::ProcessUnit;

// Of a task's flags, include/linux/sched.h: PF_KTHREAD, PF_EXITING.
constexpr uint64_t kKernelThread = 0x00200000, kExiting = 0x4;
constexpr size_t kColumns = 52;  // of /proc/PID/stat
// The resident pages there. From Linux 6.2 on each CPU counts for itself, and what it has not
// handed over yet is missing: of a program that has just begun it may be all.
constexpr uint32_t kResident = 24;

// The fields of one source that are wanted, as bits.
uint64_t fields_of(ProcessSource source, uint64_t wanted) {
    return target::fields_from(source) & wanted;
}

template <class Visit> void for_each_bit(uint64_t bits, Visit visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<uint32_t>(__builtin_ctzll(bits)));
}

std::optional<uint64_t> to_number(std::string_view text) {
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() ? std::optional(value) : std::nullopt;
}

// The number in the line `KEY:   value kB`.
std::optional<uint64_t> line_of(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (!line.starts_with(key) || line.substr(key.size(), 1) != ":") continue;
        line.remove_prefix(key.size() + 1);
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        return to_number(line);
    }
    return std::nullopt;
}

// Columns 3 and up of /proc/PID/stat, as the manual counts them.
using Columns = std::array<std::string_view, kColumns + 1>;
Columns columns_of(std::string_view rest) {
    Columns columns{};
    for (size_t i = 3; i <= kColumns && !rest.empty(); ++i) {
        columns.at(i) = rest.substr(0, rest.find_first_of(" \n"));
        rest.remove_prefix(std::min(columns.at(i).size() + 1, rest.size()));
    }
    return columns;
}

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

template <class Visit> bool for_each_entry(const std::string& path, Visit visit) {
    const Folder folder(opendir(path.c_str()), closedir);
    if (folder == nullptr) return false;
    while (const dirent* entry = readdir(folder.get())) {
        if (entry->d_name[0] != '.') visit(entry->d_name);
    }
    return true;
}

}  // namespace

ProcessReader::ProcessReader(std::string proc)
    : proc_(std::move(proc)), page_bytes_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))),
      tick_ns_(1'000'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK))) {
    struct stat status {};
    counts_files_ = proc_ == "/proc" && ::stat("/proc/self/fd", &status) == 0 && status.st_size > 0;
}

int64_t ProcessReader::scaled(uint64_t value, ProcessUnit unit) const {
    switch (unit) {
    case ProcessUnit::one:
    case ProcessUnit::bytes:
    case ProcessUnit::nanoseconds: break;
    case ProcessUnit::pages: value *= page_bytes_; break;
    case ProcessUnit::kibibytes: value *= 1024; break;
    case ProcessUnit::ticks: value *= tick_ns_; break;
    }
    return static_cast<int64_t>(value);
}

// In the buffer, until the next call. A file of /proc gives what fits in one read.
std::optional<std::string_view> ProcessReader::text_of(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return std::nullopt;
    ssize_t bytes = ::read(fd.get(), buffer_.data(), buffer_.size());
    if (bytes < 0) return std::nullopt;
    return std::string_view(buffer_.data(), static_cast<size_t>(bytes));
}

std::optional<ProcessState> ProcessReader::read(int pid, uint64_t wanted) {
    ProcessState state;
    int thread = pid;
    if (!read_stat(pid, wanted, state)) {
        thread = living_thread(proc_, pid);
        if (thread == pid) return std::nullopt;
        const ProcessState first = state;
        if (!read_stat(thread, wanted, state)) return std::nullopt;
        state.comm = first.comm;
        state.started = first.started;
    }
    const std::string folder = fmt::format("{}/{}", proc_, thread);
    read_lines(folder + "/status", ProcessSource::status, wanted, state);
    read_lines(folder + "/io", ProcessSource::io, wanted, state);
    read_descriptors(thread, wanted, state);
    read_clock(pid, wanted, state);
    read_tasks(pid, wanted, state);
    read_counters(pid, wanted, state);
    return state;
}

// `70 (any (name) at all) S 1 70 ...`
bool ProcessReader::read_stat(int pid, uint64_t wanted, ProcessState& state) {
    auto text = text_of(fmt::format("{}/{}/stat", proc_, pid));
    if (!text) return false;
    size_t open = text->find('('), close = text->rfind(')');
    if (open == text->npos || close == text->npos || close < open) return false;
    state.comm = text->substr(open + 1, close - open - 1);
    const Columns columns = columns_of(text->substr(std::min(close + 2, text->size())));
    auto number = [&](size_t column) { return to_number(columns.at(column)).value_or(0); };
    state.started = number(22);
    bool has_ended = columns[3] == "Z" || columns[3] == "X" || columns[3].empty();
    if (has_ended || (number(9) & (kKernelThread | kExiting)) != 0) return false;
    state.parent = static_cast<uint32_t>(number(4));
    state.cpu = static_cast<uint32_t>(number(39));
    for_each_bit(fields_of(ProcessSource::stat, wanted), [&](uint32_t i) {
        const target::ProcessField& field = kProcessFields.at(i);
        state.fields.at(i) = scaled(number(field.column), field.unit);
        if (field.column == kResident && state.fields.at(i) == 0) state.unread |= uint64_t{1} << i;
    });
    return true;
}

void ProcessReader::read_lines(const std::string& path, ProcessSource source, uint64_t wanted,
                               ProcessState& state) {
    const uint64_t fields = fields_of(source, wanted);
    if (fields == 0) return;
    auto text = text_of(path);
    for_each_bit(fields, [&](uint32_t i) {
        const target::ProcessField& field = kProcessFields.at(i);
        auto value = text ? line_of(*text, field.key) : std::nullopt;
        if (value) {
            state.fields.at(i) = scaled(*value, field.unit);
        } else {
            state.unread |= uint64_t{1} << i;
        }
    });
}

// The kernel counts these for each thread, and for a process only its threads together have them.
void ProcessReader::read_tasks(int pid, uint64_t wanted, ProcessState& state) {
    const uint64_t fields = fields_of(ProcessSource::tasks, wanted);
    if (fields == 0) return;
    const std::string folder = fmt::format("{}/{}/task", proc_, pid);
    bool there = for_each_entry(folder, [&](const char* thread) {
        auto text = text_of(fmt::format("{}/{}/status", folder, thread));
        if (!text) return;  // it has ended meanwhile
        for_each_bit(fields, [&](uint32_t i) {
            const target::ProcessField& field = kProcessFields.at(i);
            auto value = line_of(*text, field.key);
            if (value) state.fields.at(i) += scaled(*value, field.unit);
        });
    });
    if (!there) state.unread |= fields;
}

void ProcessReader::read_clock(int pid, uint64_t wanted, ProcessState& state) const {
    clockid_t clock{};
    timespec time{};
    const uint64_t fields = fields_of(ProcessSource::clock, wanted);
    if (fields == 0) return;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        state.unread |= fields;
        return;
    }
    const int64_t ns = static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
    for_each_bit(fields, [&](uint32_t i) { state.fields.at(i) = ns; });
}

void ProcessReader::read_counters(int pid, uint64_t wanted, ProcessState& state) {
    for_each_bit(fields_of(ProcessSource::counters, wanted), [&](uint32_t i) {
        auto value =
            counters_.read(pid, state.started, {PERF_TYPE_HARDWARE, kProcessFields.at(i).column});
        if (value) {
            state.fields.at(i) = static_cast<int64_t>(*value);
        } else {
            state.unread |= uint64_t{1} << i;
        }
    });
}

void ProcessReader::read_descriptors(int pid, uint64_t wanted, ProcessState& state) const {
    const uint64_t fields = fields_of(ProcessSource::descriptors, wanted);
    if (fields == 0) return;
    const std::string path = fmt::format("{}/{}/fd", proc_, pid);
    int64_t count = 0;
    struct stat status {};
    bool known = counts_files_ && ::stat(path.c_str(), &status) == 0;
    if (known) {
        count = status.st_size;
    } else {
        known = for_each_entry(path, [&](const char*) { ++count; });
    }
    if (!known) state.unread |= fields;
    for_each_bit(fields, [&](uint32_t i) { state.fields.at(i) = count; });
}

}  // namespace mlbcc::process
