// What was found of this machine, as plain data: nothing is judged here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bpf/abilities.h"
#include "bpf/compiler.h"
#include "files/disk_space.h"
#include "files/mounts.h"
#include "kernel/gpu_driver.h"
#include "kernel/kernel_release.h"
#include "process/container.h"
#include "process/rights.h"
#include "session/options.h"

namespace mlbcc::doctor {

struct LibraryFinding {
    std::string name;                // "libcuda.so.1", the first of its names
    std::vector<std::string> files;  // that the tool finds for it
    bool needed = false;             // by a rule that is not `optional`
};

// What became of the rules on their way into the kernel, without attaching anything.
struct RulesFinding {
    std::vector<std::string> names;
    bool were_named = true;  // else they are the usual ones, and tracing works without them
    size_t rules = 0, probes = 0;
    bool works = false;
    Error error;          // why not
    size_t mistakes = 0;  // of the rules, if that is why
    // What the rules ask for.
    bool functions = false, stacks = false;
    bool kernel_functions = false, needs_kernel_functions = false;  // the latter: not `optional`
    bool tracepoints = false;                                       // or system calls
};

struct ProcessFinding {  // --pid
    int pid = 0;
    std::optional<Error> error;  // it cannot be looked at
};

struct FolderFinding {
    std::string what;  // "output", "temporary files"
    Result<files::DiskSpace> space;
    bool needed = false;  // a trace is written there
};

struct Facts {
    std::string release, architecture;  // of the kernel
    kernel::Preemption preemption;
    bool preempts_points = false;  // bpf::Features
    process::Rights rights;
    process::Settings settings;
    bpf::Abilities abilities;
    std::optional<Error> btf;  // why there is none
    std::string headers;       // where the kernel's are; "": nowhere
    files::MountState tracefs;
    bool tracefs_readable = false;
    bool initial_pid_namespace = true;
    int cgroup = 0;
    process::ContainerKind container = process::ContainerKind::none;
    std::vector<ProcessFinding> processes;
    kernel::GpuDriver gpu;
    std::vector<LibraryFinding> libraries;
    Result<bpf::CompilerVersions> compiler = Error{"it was not asked"};
    std::vector<FolderFinding> folders;
    Result<bpf::EventCost> cost = Error{"it was not measured"};
    RulesFinding rules;
};

Facts examine_machine(const std::vector<int>& pids, const std::string& output);

// With the libraries that the rules name, and those that `mlbcc doctor` always looks for.
void examine_rules(const session::TraceOptions& options, Facts& found);

}  // namespace mlbcc::doctor
