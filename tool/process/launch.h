// The launched child's side of ChildProcess: from the fork to the command, by calls that a child of
// a process with threads may make. It tells the parent by a socket how far it came.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/identity.h"
#include "process/process.h"

namespace mlbcc::process {

// What the child tells its parent. No message at all means that the command runs: execve() closes
// the socket.
enum class Step : int { ready, folder, groups, group_id, user_id, exec };
struct Report {
    Step step = Step::ready;
    int code = 0;  // errno, 0 for `ready`
};
std::optional<Report> receive_report(int socket);

// Shared by parent and child, which makes no system call between the last two: all that the tracer
// sees is the command's own.
enum class Gate : int { closed, child_waits, open };
using SharedGate = std::atomic<Gate>;

// All that the child needs, made before the fork: it must not allocate memory.
struct Launch {
    std::optional<Identity> identity;
    std::string working_directory;  // "": the caller's
    bool ignores_children = false;
    std::vector<std::string> arguments, environment;
    std::vector<std::string> programs;  // where the program may be
    size_t likely = 0;                  // the first of them that is there
    SharedGate* gate = nullptr;
    std::vector<char*> argv, envp;  // set_pointers() sets these
    std::vector<char*> shell_argv;  // for a script without a first line that names its interpreter
};
Result<Launch> prepare_launch(const LaunchOptions& options);
// Into the launch itself, which must stay where it is.
void set_pointers(Launch& launch);

// In the child: sets up, reports, waits for one byte and then for the gate, and runs the command.
// Ends the process if the parent is gone.
[[noreturn]] void run_launched(Launch& launch, int socket);

}  // namespace mlbcc::process
