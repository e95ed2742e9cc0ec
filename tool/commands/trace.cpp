#include "commands/commands.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/as_caller.h"
#include "base/unique_fd.h"
#include "commands/rights.h"
#include "process/process.h"
#include "process/process_view.h"
#include "session/session.h"
#include "session/views.h"
#include "terminal/live_screen.h"
#include "text/tell.h"

namespace mlbcc::commands {
namespace {

bool awaits_anywhere(const load::Frontend& frontend) {
    return std::ranges::any_of(frontend.libraries, [&](const target::SoughtLibrary& library) {
        return frontend.grows_anywhere(library);
    });
}

int check_late(const session::TraceOptions& options, const load::Frontend& frontend) {
    if (!options.rules.late_anywhere || awaits_anywhere(frontend)) return 0;
    tell(Error{"--late-anywhere waits for nothing: no library of these rules has `optional` "
               "rules only and a name without a folder",
               0, "mark the rules on one `optional`, or leave --late-anywhere out"});
    return kExitUsage;
}

// A file of its own, however many traces begin in one second: it is made here, and empty.
Result<std::string> default_output() {
    const std::time_t now = std::time(nullptr);
    const auto name = fmt::format("traces/trace_{:%Y%m%d_%H%M%S}", fmt::localtime(now));
    for (int number = 1;; ++number) {
        std::string path = number == 1 ? name : fmt::format("{}_{}", name, number);
        path += ".jsonl";
        const UniqueFd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
        if (made) return path;
        if (errno != EEXIST)
            return system_error("cannot create " + path, "choose another place with -o FILE");
    }
}

Result<std::string> output_path(const session::TraceOptions& options) {
    if (!options.output.trace.empty() || options.serve() != nullptr) return options.output.trace;
    const Result<AsCaller> as_caller = AsCaller::begin();
    if (!as_caller) return as_caller.error();
    struct stat status {};
    const bool is_link = ::lstat("traces", &status) == 0 && S_ISLNK(status.st_mode);
    if (is_link && status.st_uid != 0 && status.st_uid != ::geteuid() &&
        status.st_uid != exceeded_caller()) {
        return Error{fmt::format("traces is a link that user {} made", status.st_uid), 0,
                     "choose another place with -o FILE"};
    }
    std::error_code code;
    std::filesystem::create_directories("traces", code);
    if (code) {
        return Error{"cannot make the folder traces/ for the trace", code.value(),
                     "choose another place with -o FILE"};
    }
    return default_output();
}

// The command's own status stays, if it has one.
int write_formats(const std::string& trace, const session::TraceOptions& options, int status) {
    for (session::ViewFormat format : options.output.formats) {
        ConvertOptions convert;
        convert.to = format;
        convert.by_duration = options.output.folded.by_duration;
        convert.requests = options.requests();
        int done = run_convert(trace, convert, options.verbosity);
        if (status == 0) status = done;
    }
    return status;
}

std::string title_of(const session::TargetOptions& targets) {
    if (!targets.command.empty()) return fmt::format("{}", fmt::join(targets.command, " "));
    if (targets.everyone) return "all processes";
    return fmt::format("pid {}", fmt::join(targets.pids, ", "));
}

// Null: none is wanted.
Result<std::unique_ptr<terminal::LiveScreen>> open_screen(const session::TraceOptions& options) {
    if (!options.screen.live) return std::unique_ptr<terminal::LiveScreen>();
    return terminal::LiveScreen::open(title_of(options.targets), options.screen.refresh);
}

}  // namespace

int run_trace(const session::TraceOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);  // a pipe that nobody reads is an error of writing
    load::Steps steps(options.verbosity == Verbosity::verbose);
    if (auto missing = why_not_trace(process::read_rights(), bpf::try_system_calls()))
        return tell(*missing);
    Result<std::unique_ptr<terminal::LiveScreen>> screen = open_screen(options);
    if (!screen) return tell(screen.error());
    std::optional<process::ChildProcess> command;
    if (!options.targets.command.empty()) {  // first: a fork takes as long as there is memory
        Result<process::ChildProcess> child =
            process::ChildProcess::start(session::launch_options(options.targets));
        if (!child) return tell(child.error());
        command.emplace(std::move(*child));
    }
    Result<std::vector<process::ProcessView>> views = session::views_of(options.targets);
    if (!views) return tell(views.error());
    Result<bpf::Map> threads = bpf::make_thread_table();
    if (!threads) return tell(threads.error());
    auto generation = std::make_unique<session::Generation>(options, *threads, steps);
    load::Frontend& frontend = generation->frontend;
    if (int status = generation->keeping.begin(); status != 0) return status;
    if (auto done = generation->foresee(); !done) return tell(done.error());
    if (auto done = generation->plan(std::move(*views)); !done) return tell(done.error());
    if (tell(frontend.diagnostics, options.verbosity)) return kExitUsage;
    if (int status = check_late(options, frontend); status != 0) return status;
    if (auto done = generation->begin_loading(); !done) return tell(done.error());
    if (options.rules.late_anywhere) {
        const int systems = generation->late->file_systems();
        tell_note(options.verbosity,
                  fmt::format("libraries are waited for in all folders of {} file system{}: there, "
                              "each opening of a file takes some 20 us more, for every program",
                              systems, systems == 1 ? "" : "s"));
    }
    Result<std::unique_ptr<session::Session>> session =
        session::Session::open(options, std::move(generation), *threads, steps);
    if (!session) return tell(session.error());
    (*session)->show_on(screen->get());
    if (command) (*session)->hold(std::move(*command));
    if (auto done = (*session)->open_exports(); !done) return tell(done.error());
    if (auto done = (*session)->attach(); !done) return tell(done.error());
    Result<std::string> output = output_path(options);
    if (!output) return tell(output.error());
    if (auto done = (*session)->open_outputs(*output); !done) return tell(done.error());
    int status = (*session)->run();
    session->reset();  // the trace is whole only now
    return write_formats(*output, options, status);
}

}  // namespace mlbcc::commands
