#include "trace/trace.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "system/file_limit.h"
#include "system/process_view.h"
#include "trace/keep.h"
#include "trace/messages.h"
#include "trace/rights.h"
#include "trace/self_check.h"
#include "trace/session.h"

namespace mlbcc::trace {
namespace {

system::LaunchOptions launch_options(const TraceOptions& options) {
    system::LaunchOptions launch;
    launch.argv = options.command;
    if (!options.user.empty()) launch.user = options.user;
    launch.keep_root = options.keep_root;
    return launch;
}

// How the programs that will be traced find their libraries.
Result<std::vector<system::ProcessView>> views_of(const TraceOptions& options) {
    std::vector<system::ProcessView> views;
    for (int pid : options.pids) {
        Result<system::ProcessView> view = system::view_of_process(pid);
        if (!view) return view.error();
        views.push_back(std::move(*view));
    }
    if (options.command.empty()) return views;
    auto environment = system::launch_environment(launch_options(options));
    if (!environment) return environment.error();
    views.push_back(system::view_of_command(*environment, std::filesystem::current_path().string(),
                                            options.command.front()));
    return views;
}

bool awaits_anywhere(const Frontend& frontend) {
    return std::ranges::any_of(frontend.libraries, [&](const target::SoughtLibrary& library) {
        return frontend.grows_anywhere(library);
    });
}

int check_late(const TraceOptions& options, const Frontend& frontend) {
    if (!options.rules.late_anywhere || awaits_anywhere(frontend)) return 0;
    tell(Error{"--late-anywhere waits for nothing: no library of these rules has `optional` "
               "rules only and a name without a folder",
               0, "mark the rules on one `optional`, or leave --late-anywhere out"});
    return kExitUsage;
}

std::string default_output() {
    std::time_t now = std::time(nullptr);
    return fmt::format("traces/trace_{:%Y%m%d_%H%M%S}.jsonl", fmt::localtime(now));
}

Result<std::string> output_path(const TraceOptions& options) {
    if (!options.output.empty()) return options.output;
    std::error_code code;
    std::filesystem::create_directories("traces", code);
    if (code) {
        return Error{"cannot make the folder traces/ for the trace", code.value(),
                     "choose another place with -o FILE"};
    }
    return default_output();
}

}  // namespace

int run_trace(const TraceOptions& options) {
    Steps steps(options.verbosity == Verbosity::verbose);
    if (auto missing = why_not_trace(own_standing())) return tell(*missing);
    Result<std::vector<system::ProcessView>> views = views_of(options);
    if (!views) return tell(views.error());
    std::vector<std::string> folders;
    for (const system::ProcessView& view : *views) {
        folders.insert(folders.end(), view.path.begin(), view.path.end());
    }
    Frontend frontend(options.rules, steps);
    frontend.expects = true;
    Loader loader(frontend, steps);
    Keeping keeping(options, frontend, loader);
    if (int status = keeping.begin(); status != 0) return status;
    loader.begin_to_find_features();
    if (auto done = frontend.up_to_plan(std::move(*views)); !done) return tell(done.error());
    if (tell(frontend.diagnostics, options.verbosity)) return kExitUsage;
    if (int status = check_late(options, frontend); status != 0) return status;
    if (auto done = check_structures(frontend, steps); !done) return tell(done.error());
    if (auto done = frontend.choose_entries(); !done) return tell(done.error());

    Result<std::optional<LateLibraries>> late = LateLibraries::start(frontend);
    if (!late) return tell(late.error());
    if (options.rules.late_anywhere) {
        tell_note(options.verbosity,
                  fmt::format("libraries are waited for in all folders of {} file system{}: there, "
                              "each opening of a file takes some 20 us more, for every program",
                              (*late)->file_systems(), (*late)->file_systems() == 1 ? "" : "s"));
    }
    Result<bpf::Map> rings = bpf::make_ring_table();
    if (!rings) return tell(rings.error());
    if (auto done = loader.start(options, *rings); !done) return tell(done.error());
    Result<std::unique_ptr<Session>> session = Session::open(options, frontend, *rings, steps);
    if (!session) return tell(session.error());
    if (!options.command.empty()) {
        if (auto done = (*session)->hold_command(launch_options(options)); !done)
            return tell(done.error());
    }
    system::allow_all_files();  // the command, which is there already, keeps its limit
    if (auto done = loader.attach(); !done) return tell(done.error());
    if (auto done = loader.receive(); !done) return tell(done.error());
    keeping.keep();
    Result<Loaded> loaded = loader.finish();
    if (!loaded) return tell(loaded.error());
    Result<std::string> output = output_path(options);
    if (!output) return tell(output.error());
    if (auto done = (*session)->take(std::move(*loaded), *output); !done) return tell(done.error());
    (*session)->find_pythons(folders);
    if (*late) {
        (*session)->await(std::move(**late));
    } else {
        frontend.compiler->kill();  // LLVM's memory goes with it
    }
    return (*session)->run();
}

}  // namespace mlbcc::trace
