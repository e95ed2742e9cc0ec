// The traced command: started, held before its first instruction, released when the probes are in
// place, and followed to its exit status.
//
//   start() ── fork ──> child: user, signals, folder ──> waits ── release() ──> execvp(command)
//
// The command has the caller's standard streams, environment and process group. It goes on if the
// tracer dies; a child that still waits ends then.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc::process {

enum class Gate : int;
using SharedGate = std::atomic<Gate>;

struct LaunchOptions {
    std::vector<std::string> argv;    // the program, looked up in PATH, and its arguments
    std::optional<std::string> user;  // a name or a number; else, under sudo, who called sudo
    bool keep_root = false;           // under sudo: stay root
    std::string working_directory;    // "": the caller's
    bool ignores_children = false;    // SIGCHLD is ignored, as by the caller (inherited.h)
};

// What the command's environment will be, "NAME=value". Errors: as of start().
Result<std::vector<std::string>> launch_environment(const LaunchOptions& options);

class ChildProcess {
public:
    // Errors: no such user, not permitted to become it, no such folder, no more processes.
    static Result<ChildProcess> start(const LaunchOptions& options);

    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    ~ChildProcess();  // ends a child that was not released; a released one goes on

    // The child is about to run the command: from now on it makes no system call before that.
    void stand_by();
    // Lets the command begin. report_fd() is readable, or hung up, when release() need not wait.
    void open_gate();
    int report_fd() const { return socket_.get(); }
    // Returns when the command runs. An Error's `code` is execvp()'s errno; the child has ended
    // then, with failed_exec_status(code).
    Result<void> release();

    int pid() const { return pid_; }
    int pidfd() const { return pidfd_.get(); }  // readable when the command has ended
    // The wait status, once the command has ended (waitpid(2)).
    std::optional<int> try_wait();
    int wait();
    // CPU time of it and of all children that were waited for within it, nanoseconds; once it has
    // ended.
    std::optional<uint64_t> cpu_ns() const { return cpu_ns_; }

private:
    ChildProcess() = default;
    void end_waiting_child();
    void send_byte();

    std::string program_;
    int pid_ = 0;
    UniqueFd pidfd_;
    UniqueFd socket_;  // to the waiting child; closed once it is released
    std::unique_ptr<SharedGate, void (*)(SharedGate*)> gate_{nullptr, nullptr};
    bool wait(int flags);

    std::optional<int> status_;
    std::optional<uint64_t> cpu_ns_;
};

// What a shell makes of a wait status: the exit status, or 128 + the signal that ended the command.
int exit_status(int wait_status);
// What a shell exits with where execvp() failed: 127 if there is no such program, else 126.
int failed_exec_status(int code);

}  // namespace mlbcc::process
