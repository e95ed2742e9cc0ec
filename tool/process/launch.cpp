#include "process/launch.h"

#include <grp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include <utility>

#include "files/paths.h"
#include "process/process_view.h"

namespace mlbcc::process {

namespace {

constexpr const char* kShell = "/bin/sh";
constexpr uint64_t kAwakeMs = 1000;

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

// "ls" -> /usr/local/bin/ls, /usr/bin/ls, /bin/ls; a path as it is.
std::vector<std::string> places_of(const std::string& program,
                                   const std::vector<std::string>& environment) {
    if (program.find('/') != std::string::npos) return {program};
    std::vector<std::string> folders = view_of_command(environment, ".").path;
    if (folders.empty()) folders = {"/bin", "/usr/bin"};
    for (std::string& folder : folders) folder = files::join_path(folder, program);
    return folders;
}

void send_report(int socket, Step step, int code) {
    const Report report{step, code};
    while (send(socket, &report, sizeof report, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

// What the tracer does with signals is no business of the command. What our caller has ignored
// stays so (nohup); SIGPIPE and SIGXFSZ are ignored by tracers, not by callers.
void reset_signals(bool ignores_children) {
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action {};
        if (sigaction(number, nullptr, &action) != 0) continue;
        const bool is_ours = number == SIGPIPE || number == SIGXFSZ;
        if (action.sa_handler == SIG_IGN && !is_ours) continue;
        struct sigaction standard {};
        standard.sa_handler = number == SIGCHLD && ignores_children ? SIG_IGN : SIG_DFL;
        sigaction(number, &standard, nullptr);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

Report become(const Launch& launch) {
    if (const auto& identity = launch.identity) {
        if (setgroups(identity->groups.size(), identity->groups.data()) != 0) {
            return {Step::groups, errno};
        }
        if (setresgid(identity->gid, identity->gid, identity->gid) != 0) {
            return {Step::group_id, errno};
        }
        if (setresuid(identity->uid, identity->uid, identity->uid) != 0) {
            return {Step::user_id, errno};
        }
    }
    const std::string& folder = launch.working_directory;
    if (!folder.empty() && chdir(folder.c_str()) != 0) return {Step::folder, errno};
    return {};
}

// execvp(), but a folder of PATH that the user may not look into counts as one without the program:
// under sudo PATH is often root's. Returns why no program runs, an errno.
int execute(Launch& launch) {
    const bool is_path = launch.arguments[0].find('/') != std::string::npos;
    int code = ENOENT;
    execve(launch.programs[launch.likely].c_str(), launch.argv.data(), launch.envp.data());
    for (std::string& program : launch.programs) {
        execve(program.c_str(), launch.argv.data(), launch.envp.data());
        if (errno == ENOEXEC) {
            launch.shell_argv[1] = program.data();
            execve(kShell, launch.shell_argv.data(), launch.envp.data());
            return ENOEXEC;
        }
        const int reason = errno;
        const bool goes_on = reason == ENOENT || reason == ENOTDIR || reason == EACCES;
        if (is_path || !goes_on) return reason;
        if (reason == EACCES && access(program.c_str(), F_OK) == 0) code = EACCES;
    }
    return code;
}

bool wait_for_byte(int socket) {
    char go;
    ssize_t got;
    while ((got = recv(socket, &go, 1, 0)) < 0 && errno == EINTR) {
    }
    return got == 1;
}

uint64_t now_ms() {  // without a system call: by the vdso
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1000000;
}

bool has_parent(int socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
}

// Twice: until the programs are there, asleep, and then until they are armed, awake. A parent that
// takes long, or is gone, is not waited for so.
bool wait_for_release(SharedGate& gate, int socket) {
    if (!wait_for_byte(socket)) return false;
    Gate closed = Gate::closed;
    gate.compare_exchange_strong(closed, Gate::child_waits);
    const uint64_t begin = now_ms();
    while (gate != Gate::open) {
        if (now_ms() < begin + kAwakeMs) continue;
        if (!has_parent(socket)) return false;
        const timespec moment{0, 1'000'000};
        nanosleep(&moment, nullptr);
    }
    return true;
}

// So that the tracer sees one execve(), not one for each folder of PATH.
void find_program(Launch& launch) {
    for (size_t i = 0; i < launch.programs.size(); i++) {
        struct stat status {};
        const char* path = launch.programs[i].c_str();
        if (access(path, X_OK) != 0 || stat(path, &status) != 0) continue;
        if (!S_ISREG(status.st_mode)) continue;
        launch.likely = i;
        return;
    }
}

}  // namespace

std::optional<Report> receive_report(int socket) {
    Report report;
    ssize_t got;
    while ((got = recv(socket, &report, sizeof report, 0)) < 0 && errno == EINTR) {
    }
    if (got != static_cast<ssize_t>(sizeof report)) return std::nullopt;
    return report;
}

Result<Launch> prepare_launch(const LaunchOptions& options) {
    if (options.argv.empty() || options.argv[0].empty()) {
        return Error{"there is no command to run", 0, {}};
    }
    const Caller caller = Caller::current();
    auto identity = choose_identity(caller, options.user, options.keep_root);
    if (!identity) return identity.error();
    Launch launch;
    launch.identity = *identity;
    launch.working_directory = options.working_directory;
    launch.ignores_children = options.ignores_children;
    launch.arguments = options.argv;
    launch.environment = environment_of(caller, *identity);
    launch.programs = places_of(options.argv[0], launch.environment);
    return launch;
}

void set_pointers(Launch& launch) {
    launch.argv = pointers(launch.arguments);
    launch.envp = pointers(launch.environment);
    launch.shell_argv = launch.argv;
    launch.shell_argv.insert(launch.shell_argv.begin(), const_cast<char*>(kShell));
}

void run_launched(Launch& launch, int socket) {
    reset_signals(launch.ignores_children);
    const Report report = become(launch);
    find_program(launch);
    send_report(socket, report.step, report.code);
    if (report.code != 0 || !wait_for_release(*launch.gate, socket)) _exit(126);
    const int code = execute(launch);
    send_report(socket, Step::exec, code);
    _exit(failed_exec_status(code));
}

}  // namespace mlbcc::process
