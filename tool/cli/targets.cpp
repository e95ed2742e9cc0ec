#include "cli/targets.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "cli/mistakes.h"
#include "cli/values.h"
#include "process/proc.h"
#include "text/tell.h"

namespace mlbcc {
namespace {

constexpr size_t kComm = 15;  // characters of a program's name that the kernel keeps

std::optional<int> number_of(const std::string& text) {
    int pid = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, pid);
    if (failed != std::errc() || stop != end || pid <= 0) return std::nullopt;
    return pid;
}

void add(std::vector<int>& pids, int pid) {
    if (std::ranges::find(pids, pid) == pids.end()) pids.push_back(pid);
}

}  // namespace

void add_pids(const std::vector<std::string>& numbers, std::vector<int>& pids) {
    for (const std::string& text : numbers) {
        const std::optional<int> pid = number_of(text);
        if (!pid)
            refuse(fmt::format("`{}` is not a process id", text),
                   "write --pid 4711,4712, or --pid-of NAME");
        add(pids, *pid);
    }
}

void add_pids_of(const std::vector<std::string>& names, std::vector<int>& pids) {
    const Result<std::vector<int>> all = process::all_processes();
    if (!all) refuse(all.error().message());
    for (const std::string& name : names) {
        bool any = false;
        for (const int pid : *all) {
            if (pid == ::getpid() || process::comm_of(pid) != name.substr(0, kComm)) continue;
            add(pids, pid);
            any = true;
        }
        if (any) continue;
        usage_error(fmt::format("no process is called `{}`", name),
                    "`ps -eo pid,comm` shows what they are called");
        throw CLI::RuntimeError(kExitFailure);
    }
}

}  // namespace mlbcc
