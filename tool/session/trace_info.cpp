#include "session/trace_info.h"

#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/living_thread.h"
#include "files/paths.h"
#include "process/process.h"
#include "process/process_view.h"
#include "session/views.h"

namespace mlbcc::session {
namespace {

// "2026-11-20T12:00:00.000000Z"
std::string wall_clock() {
    auto now = std::chrono::system_clock::now().time_since_epoch();
    auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                       fmt::gmtime(static_cast<std::time_t>(us / 1'000'000)), us % 1'000'000);
}

// NAME=VALUE: what the command is given; what the first of running processes was given.
Result<std::vector<std::string>> environment_of(const TraceOptions& options) {
    if (!options.targets.command.empty())
        return process::launch_environment(launch_options(options.targets));
    Result<process::ProcessView> view = process::view_of_process(options.targets.pids[0]);
    if (!view) return view.error();
    return std::move(view->environment);
}

// Of the command; of running processes those of the first.
void add_places(const TraceOptions& options, sink::TraceInfo& info) {
    namespace fs = std::filesystem;
    std::error_code code;
    if (options.targets.command.empty() && options.targets.pids.empty()) return;
    info.folder =
        options.targets.command.empty()
            ? fs::read_symlink(fmt::format("/proc/{}/cwd", living_thread(options.targets.pids[0])),
                               code)
                  .string()
            : files::working_folder();
    auto environment = environment_of(options);
    if (!environment) return;
    constexpr std::string_view kHome = "HOME=/";
    for (const std::string& variable : *environment) {
        info.environment.push_back(variable.substr(0, variable.find('=')));
        if (variable.starts_with(kHome)) info.home = variable.substr(kHome.size() - 1);
    }
    std::ranges::sort(info.environment);
}

}  // namespace

sink::TraceInfo trace_info(const TraceOptions& options, const load::Frontend& frontend,
                           uint64_t start_ns) {
    utsname names{};
    uname(&names);
    sink::TraceInfo info;
    info.tool = "mlbcc " MLBCC_VERSION;
    info.start = wall_clock();
    info.kernel = names.release;
    info.arch = names.machine;
    info.command = options.targets.command;
    info.rules = frontend.rule_names;
    if (options.is_profile()) {
        info.report = "profile";
        add_places(options, info);
    }
    if (options.serve() != nullptr) info.report = "serve";
    info.start_ns = start_ns;
    return info;
}

}  // namespace mlbcc::session
