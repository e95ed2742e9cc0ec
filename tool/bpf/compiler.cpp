#include "bpf/compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "bpf/compiler_json.h"

namespace mlbcc::bpf {

namespace {

constexpr int kHelperSocket = 3;

// What the helper's descriptors are: nothing to read, standard error for all it writes, the socket.
class FileActions {
public:
    explicit FileActions(int socket) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
        // Where it stands for a closed one, it would be closed again.
        ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDERR_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions_, socket, kHelperSocket);
    }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_;
};

// No signal blocked or ignored, and a process group of its own: Ctrl-C is for the tracer to handle.
class Attributes {
public:
    Attributes() {
        sigset_t none, all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        ::posix_spawnattr_init(&attributes_);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                     POSIX_SPAWN_SETPGROUP);
    }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
    const posix_spawnattr_t* get() const { return &attributes_; }

private:
    posix_spawnattr_t attributes_;
};

Result<pid_t> spawn(const std::string& helper, int socket) {
    FileActions actions(socket);
    Attributes attributes;
    std::string name = helper;
    char* argv[] = {name.data(), nullptr};
    pid_t pid = -1;
    int code = ::posix_spawn(&pid, helper.c_str(), actions.get(), attributes.get(), argv, environ);
    if (code == 0) return pid;
    return Error{"cannot start the compiler helper " + helper, code,
                 "it is installed with mlbcc, in libexec/mlbcc"};
}

Error ended_error(int status) {
    std::string how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                          : "exit status " + std::to_string(WEXITSTATUS(status));
    bool no_start = WIFEXITED(status) && WEXITSTATUS(status) == 127;
    return Error{"the compiler helper ended unexpectedly (" + how + ")", 0,
                 no_start ? "a library that it needs is missing: libbcc, libclang or LLVM" : ""};
}

}  // namespace

Result<CompilerProcess> CompilerProcess::start(const std::string& helper,
                                               std::chrono::seconds patience) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return system_error("cannot make a socket for the compiler helper");
    }
    UniqueFd ours(pair[0]), theirs(pair[1]);
    const timeval limit{patience.count(), 0};
    ::setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    auto pid = spawn(helper, theirs.get());
    if (!pid) return pid.error();
    return CompilerProcess(*pid, std::move(ours));
}

CompilerProcess::CompilerProcess(CompilerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)),
      awaited_(std::exchange(other.awaited_, 0)), arrived_(std::move(other.arrived_)) {}

CompilerProcess& CompilerProcess::operator=(CompilerProcess&& other) noexcept {
    if (this == &other) return *this;
    end();
    pid_ = std::exchange(other.pid_, -1);
    socket_ = std::move(other.socket_);
    awaited_ = std::exchange(other.awaited_, 0);
    arrived_ = std::move(other.arrived_);
    return *this;
}

CompilerProcess::~CompilerProcess() {
    end();
}

void CompilerProcess::kill() {
    socket_.reset();
    if (pid_ > 0) ::kill(pid_, SIGKILL);
}

// It keeps nothing that could be lost, so it is not waited for to finish what it may be doing.
int CompilerProcess::end() {
    kill();
    if (pid_ <= 0) return 0;
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
}

// The socket is closed at the other end, so the helper is dead or dying, by what it may be: then it
// does not change how that ends, that it is killed.
Error CompilerProcess::gone() {
    int status = 0;
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
    }
    socket_.reset();
    return ended_error(status);
}

// The helper answers one request after another. To send while it sends would block both, once the
// socket's buffer is full, so a reply that is due is taken in first.
Result<void> CompilerProcess::send(const std::string& json, std::span<const int> fds) {
    while (arrived_.size() < awaited_) {
        auto message = receive_next();
        if (!message) return message.error();
        arrived_.push_back(std::move(*message));
    }
    if (!socket_) return Error{"the compiler helper is gone"};
    auto sent = send_message(socket_.get(), json, fds);
    if (!sent && (sent.error().code == EPIPE || sent.error().code == ECONNRESET)) return gone();
    if (!sent && sent.error().code == EAGAIN) return late();
    if (sent) ++awaited_;
    return sent;
}

Error CompilerProcess::late() {
    end();
    return Error{"the compiler helper has not answered in time, and was ended", 0,
                 "is it stopped, or does a header lie on a file system that does not answer?"};
}

Result<Message> CompilerProcess::receive_next() {
    if (!socket_) return Error{"the compiler helper is gone"};
    auto message = receive_message(socket_.get());
    bool closed = message ? message->json.empty() : message.error().code == ECONNRESET;
    if (closed) return gone();
    if (message) return message;
    if (message.error().code == EAGAIN) return late();
    int status = end();  // what it might still send cannot be understood
    bool fell = WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL;
    return fell ? ended_error(status) : message.error();
}

Result<Message> CompilerProcess::receive() {
    if (awaited_ == 0) return Error{"no reply of the compiler helper is due"};
    --awaited_;
    if (arrived_.empty()) return receive_next();
    Message message = std::move(arrived_.front());
    arrived_.pop_front();
    return message;
}

Result<void> CompilerProcess::send_types(const TypesRequest& request) {
    return send(request_json(request));
}

Result<std::string> CompilerProcess::receive_types() {
    auto message = receive();
    if (!message) return message.error();
    auto good = check_reply(message->json);
    if (!good) return good.error();
    return std::move(message->json);
}

Result<std::string> CompilerProcess::types(const TypesRequest& request) {
    auto sent = send_types(request);
    if (!sent) return sent.error();
    return receive_types();
}

Result<void> CompilerProcess::send_entries(const std::string& architecture,
                                           std::span<const FunctionCode> functions) {
    return send(request_json(architecture, functions));
}

Result<std::string> CompilerProcess::entries_text(const std::string& architecture,
                                                  std::span<const FunctionCode> functions) {
    auto sent = send_entries(architecture, functions);
    if (!sent) return sent.error();
    auto message = receive();
    if (!message) return message.error();
    return std::move(message->json);
}

Result<std::vector<EntryChoice>> CompilerProcess::receive_entries() {
    auto message = receive();
    if (!message) return message.error();
    return read_entries(message->json);
}

Result<std::vector<EntryChoice>> CompilerProcess::entries(const std::string& architecture,
                                                          std::span<const FunctionCode> functions) {
    auto sent = send_entries(architecture, functions);
    if (!sent) return sent.error();
    return receive_entries();
}

Result<void> CompilerProcess::send_compile(const CompileRequest& request) {
    std::vector<int> fds;
    for (const auto& [name, fd] : request.maps) fds.push_back(fd);
    return send(request_json(request), fds);
}

Result<CompileResult> CompilerProcess::receive_compile() {
    auto message = receive();
    if (!message) return message.error();
    return read_compiled(std::move(*message));
}

Result<CompileResult> CompilerProcess::compile(const CompileRequest& request) {
    auto sent = send_compile(request);
    if (!sent) return sent.error();
    return receive_compile();
}

Result<CompilerVersions> CompilerProcess::versions() {
    auto sent = send(versions_request_json());
    if (!sent) return sent.error();
    auto message = receive();
    if (!message) return message.error();
    return read_versions(message->json);
}

}  // namespace mlbcc::bpf
