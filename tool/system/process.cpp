#include "system/process.h"

#include <fmt/format.h>
#include <grp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "system/identity.h"

namespace mlbcc::system {

namespace {

// What the child tells its parent. No message at all means that execvp() succeeded: it closes the
// socket.
enum class Step : int { ready, folder, groups, group_id, user_id, exec };
struct Report {
    Step step = Step::ready;
    int code = 0;  // errno, 0 for `ready`
};

// All that the child needs, made before the fork: afterwards memory must not be allocated.
struct Launch {
    const LaunchOptions& options;
    std::optional<Identity> identity;
    std::vector<std::string> environment;
    std::vector<char*> argv, envp;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

void send_report(int socket, Step step, int code) {
    const Report report{step, code};
    while (send(socket, &report, sizeof report, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

std::optional<Report> receive_report(int socket) {
    Report report;
    ssize_t got;
    while ((got = recv(socket, &report, sizeof report, 0)) < 0 && errno == EINTR) {
    }
    if (got != static_cast<ssize_t>(sizeof report)) return std::nullopt;
    return report;
}

// What the tracer does with signals is no business of the command. What our caller has ignored
// stays so (nohup); SIGPIPE and SIGXFSZ are ignored by tracers, not by callers.
void reset_signals() {
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action {};
        if (sigaction(number, nullptr, &action) != 0) continue;
        const bool is_ours = number == SIGPIPE || number == SIGXFSZ;
        if (action.sa_handler == SIG_IGN && !is_ours) continue;
        struct sigaction standard {};
        standard.sa_handler = SIG_DFL;
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
    const std::string& folder = launch.options.working_directory;
    if (!folder.empty() && chdir(folder.c_str()) != 0) return {Step::folder, errno};
    return {};
}

bool wait_for_release(int socket) {
    char go;
    ssize_t got;
    while ((got = recv(socket, &go, 1, 0)) < 0 && errno == EINTR) {
    }
    return got == 1;
}

[[noreturn]] void run_child(const Launch& launch, int socket) {
    reset_signals();
    const Report report = become(launch);
    send_report(socket, report.step, report.code);
    if (report.code != 0 || !wait_for_release(socket)) _exit(126);
    execvpe(launch.argv[0], launch.argv.data(), launch.envp.data());
    const int code = errno;
    send_report(socket, Step::exec, code);
    _exit(failed_exec_status(code));
}

// No handler of the tracer may run in the child, so signals wait until it has reset them.
pid_t fork_child(const Launch& launch, int parent_socket, int child_socket) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0) {
        close(parent_socket);  // else the child would never see that the tracer is gone
        run_child(launch, child_socket);
    }
    const int code = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = code;
    return pid;
}

Error setup_error(const Launch& launch, const Report& report) {
    const std::string user = launch.identity ? launch.identity->name : "";
    switch (report.step) {
    case Step::folder:
        return {fmt::format("cannot change to the folder {}", launch.options.working_directory),
                report.code,
                {}};
    case Step::groups:
    case Step::group_id:
    case Step::user_id:
        return {fmt::format("cannot become the user `{}`", user), report.code,
                "keep root with --root"};
    case Step::ready:
    case Step::exec: break;
    }
    return {"the child process ended before the command was started", report.code, {}};
}

Error exec_error(const std::string& program, int code) {
    Error error{fmt::format("cannot run `{}`", program), code, {}};
    const bool is_path = program.find('/') != std::string::npos;
    if (code == ENOENT && !is_path) {
        error.help = "it is in no folder of PATH: give its path";
    } else if (code == ENOENT && access(program.c_str(), F_OK) == 0) {
        error.help = "the interpreter that the file asks for is missing: see its first line";
    } else if (code == EACCES) {
        error.help = "make the file executable, or give the program that runs it";
    }
    return error;
}

Result<Launch> prepare(const LaunchOptions& options) {
    if (options.argv.empty()) return Error{"there is no command to run", 0, {}};
    const Caller caller = Caller::current();
    auto identity = choose_identity(caller, options.user, options.keep_root);
    if (!identity) return identity.error();
    return Launch{options, *identity, environment_of(caller, *identity), {}, {}};
}

}  // namespace

Result<std::vector<std::string>> launch_environment(const LaunchOptions& options) {
    Result<Launch> launch = prepare(options);
    if (!launch) return launch.error();
    return std::move(launch->environment);
}

Result<ChildProcess> ChildProcess::start(const LaunchOptions& options) {
    Result<Launch> launch = prepare(options);
    if (!launch) return launch.error();
    std::vector<std::string> argv = options.argv;
    launch->argv = pointers(argv);
    launch->envp = pointers(launch->environment);

    std::array<int, 2> sockets;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
        return system_error("cannot make a socket");
    }
    ChildProcess child;
    child.gate_.reset(sockets[0]);
    UniqueFd child_end(sockets[1]);
    child.program_ = options.argv[0];
    const pid_t pid = fork_child(*launch, sockets[0], sockets[1]);
    if (pid < 0) return system_error("cannot start a process");
    child.pid_ = pid;
    child_end.reset();

    const std::optional<Report> report = receive_report(child.gate_.get());
    if (!report || report->code != 0) return setup_error(*launch, report.value_or(Report{}));
    child.pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!child.pidfd_) return system_error("cannot watch the command (pidfd_open)");
    return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : program_(std::move(other.program_)), pid_(std::exchange(other.pid_, 0)),
      pidfd_(std::move(other.pidfd_)), gate_(std::move(other.gate_)), status_(other.status_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
    if (this == &other) return *this;
    end_waiting_child();
    program_ = std::move(other.program_);
    pid_ = std::exchange(other.pid_, 0);
    pidfd_ = std::move(other.pidfd_);
    gate_ = std::move(other.gate_);
    status_ = other.status_;
    return *this;
}

ChildProcess::~ChildProcess() {
    end_waiting_child();
}

void ChildProcess::end_waiting_child() {
    if (pid_ == 0 || !gate_) return;
    gate_.reset();
    wait();
}

Result<void> ChildProcess::release() {
    if (!gate_) return {};
    while (send(gate_.get(), "g", 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
    const std::optional<Report> report = receive_report(gate_.get());
    gate_.reset();
    if (!report) return {};  // it runs, or a signal has ended it meanwhile: wait() tells
    wait();
    return exec_error(program_, report->code);
}

std::optional<int> ChildProcess::try_wait() {
    int status = 0;
    if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_;
}

int ChildProcess::wait() {
    int status = 0;
    while (!status_) {
        const pid_t ended = waitpid(pid_, &status, 0);
        if (ended < 0 && errno == EINTR) continue;
        status_ = ended == pid_ ? status : 0;  // someone else has waited for it
    }
    return *status_;
}

int exit_status(int wait_status) {
    if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
    return WEXITSTATUS(wait_status);
}

int failed_exec_status(int code) {
    return code == ENOENT ? 127 : 126;
}

}  // namespace mlbcc::system
