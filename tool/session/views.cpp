#include "session/views.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/paths.h"
#include "process/identity.h"

namespace mlbcc::session {
namespace {

constexpr size_t kMaxViews = 64;  // of processes that run

// Of programs that do not run yet. Those of everybody look for libraries where ours would.
Result<void> add_coming(const TargetOptions& targets, std::vector<process::ProcessView>& views) {
    if (targets.everyone) views.push_back(own_view());
    if (targets.command.empty()) return {};
    auto environment = process::launch_environment(launch_options(targets));
    if (!environment) return environment.error();
    views.push_back(
        process::view_of_command(*environment, files::working_folder(), targets.command.front()));
    return {};
}

}  // namespace

process::ProcessView own_view() {
    std::vector<std::string> environment;
    for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
    return process::view_of_command(environment, files::working_folder());
}

process::LaunchOptions launch_options(const TargetOptions& targets) {
    process::LaunchOptions launch;
    launch.argv = targets.command;
    if (!targets.user.empty()) launch.user = targets.user;
    launch.keep_root = targets.keep_root;
    launch.ignores_children = targets.ignores_children;
    return launch;
}

uid_t user_of(const TargetOptions& targets) {
    struct stat status {};
    if (targets.command.empty() && !targets.pids.empty()) {
        const std::string folder = fmt::format("/proc/{}", targets.pids.front());
        if (::stat(folder.c_str(), &status) == 0) return status.st_uid;
    }
    const process::LaunchOptions launch = launch_options(targets);
    auto identity =
        process::choose_identity(process::Caller::current(), launch.user, launch.keep_root);
    return identity && *identity ? (*identity)->uid : ::geteuid();
}

Result<std::vector<process::ProcessView>> views_of(const TargetOptions& targets) {
    std::vector<process::ProcessView> views;
    for (int pid : targets.pids) {
        Result<process::ProcessView> view = process::view_of_process(pid);
        if (!view) return view.error();
        views.push_back(std::move(*view));
    }
    if (auto done = add_coming(targets, views); !done) return done.error();
    return views;
}

Result<std::vector<process::ProcessView>> views_of(const TargetOptions& targets,
                                                   const std::vector<int>& pids) {
    std::vector<process::ProcessView> views;
    for (int pid : pids) {
        if (views.size() == kMaxViews) break;
        if (auto view = process::view_of_process(pid)) views.push_back(std::move(*view));
    }
    if (auto done = add_coming(targets, views); !done) return done.error();
    return views;
}

}  // namespace mlbcc::session
