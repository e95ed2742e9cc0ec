#include "process/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <new>
#include <utility>

#include "process/launch.h"

namespace mlbcc::process {

namespace {

// No handler of the tracer may run in the child, so signals wait until it has reset them.
pid_t fork_child(Launch& launch, int parent_socket, int child_socket) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0) {
        close(parent_socket);  // else the child would never see that the tracer is gone
        run_launched(launch, child_socket);
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
        return {fmt::format("cannot change to the folder {}", launch.working_directory),
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
        error.help = "it was not found in PATH: give its path";
    } else if (code == ENOENT && access(program.c_str(), F_OK) == 0) {
        error.help = "the interpreter that the file asks for is missing: see its first line";
    } else if (code == EACCES) {
        error.help = "make the file executable, or give the program that runs it";
    }
    return error;
}

void free_gate(SharedGate* gate) {
    munmap(gate, sizeof *gate);
}

std::unique_ptr<SharedGate, void (*)(SharedGate*)> make_gate() {
    void* shared = mmap(nullptr, sizeof(SharedGate), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return {nullptr, free_gate};
    return {new (shared) SharedGate(Gate::closed), free_gate};
}

}  // namespace

Result<std::vector<std::string>> launch_environment(const LaunchOptions& options) {
    Result<Launch> launch = prepare_launch(options);
    if (!launch) return launch.error();
    return std::move(launch->environment);
}

Result<ChildProcess> ChildProcess::start(const LaunchOptions& options) {
    Result<Launch> launch = prepare_launch(options);
    if (!launch) return launch.error();
    set_pointers(*launch);
    auto gate = make_gate();
    if (!gate) return system_error("cannot make shared memory");
    launch->gate = gate.get();
    std::array<int, 2> sockets;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
        return system_error("cannot make a socket");
    }
    ChildProcess child;
    child.gate_ = std::move(gate);
    child.socket_.reset(sockets[0]);
    UniqueFd child_end(sockets[1]);
    child.program_ = options.argv[0];
    const pid_t pid = fork_child(*launch, sockets[0], sockets[1]);
    if (pid < 0) return system_error("cannot start a process");
    child.pid_ = pid;
    child_end.reset();

    const std::optional<Report> report = receive_report(child.socket_.get());
    if (!report || report->code != 0) return setup_error(*launch, report.value_or(Report{}));
    child.pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!child.pidfd_) return system_error("cannot watch the command (pidfd_open)");
    return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : program_(std::move(other.program_)), pid_(std::exchange(other.pid_, 0)),
      pidfd_(std::move(other.pidfd_)), socket_(std::move(other.socket_)),
      gate_(std::move(other.gate_)), status_(other.status_), cpu_ns_(other.cpu_ns_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
    if (this == &other) return *this;
    end_waiting_child();
    program_ = std::move(other.program_);
    pid_ = std::exchange(other.pid_, 0);
    pidfd_ = std::move(other.pidfd_);
    socket_ = std::move(other.socket_);
    gate_ = std::move(other.gate_);
    status_ = other.status_;
    cpu_ns_ = other.cpu_ns_;
    return *this;
}

ChildProcess::~ChildProcess() {
    end_waiting_child();
}

void ChildProcess::end_waiting_child() {
    if (pid_ == 0 || !socket_) return;
    socket_.reset();
    wait();
}

void ChildProcess::send_byte() {
    while (send(socket_.get(), "g", 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

void ChildProcess::stand_by() {
    if (!socket_) return;
    send_byte();
    while (*gate_ == Gate::closed) {
        pollfd ended{pidfd_.get(), POLLIN, 0};
        if (::poll(&ended, 1, 0) > 0) return;  // a signal has ended it: wait() tells
        timespec moment{0, 20'000};
        nanosleep(&moment, nullptr);
    }
}

void ChildProcess::open_gate() {
    if (!socket_) return;
    if (*gate_ == Gate::closed) send_byte();
    *gate_ = Gate::open;
}

Result<void> ChildProcess::release() {
    if (!socket_) return {};
    if (*gate_ != Gate::open) open_gate();
    const std::optional<Report> report = receive_report(socket_.get());
    socket_.reset();
    if (!report) return {};  // it runs, or a signal has ended it meanwhile: wait() tells
    wait();
    return exec_error(program_, report->code);
}

// False where nothing was learnt.
bool ChildProcess::wait(int flags) {
    int status = 0;
    rusage used{};
    const pid_t ended = wait4(pid_, &status, flags, &used);
    if (ended == 0 || (ended < 0 && (flags != 0 || errno == EINTR))) return false;
    status_ = ended == pid_ ? status : 0;  // someone else has waited for it
    auto ns = [](const timeval& time) {
        return (static_cast<uint64_t>(time.tv_sec) * 1'000'000 +
                static_cast<uint64_t>(time.tv_usec)) *
               1000;
    };
    if (ended == pid_) cpu_ns_ = ns(used.ru_utime) + ns(used.ru_stime);
    return true;
}

std::optional<int> ChildProcess::try_wait() {
    if (!status_) wait(WNOHANG);
    return status_;
}

int ChildProcess::wait() {
    while (!status_) wait(0);
    return *status_;
}

int exit_status(int wait_status) {
    if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
    return WEXITSTATUS(wait_status);
}

int failed_exec_status(int code) {
    return code == ENOENT ? 127 : 126;
}

}  // namespace mlbcc::process
