#include "doctor/findings.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>

#include "files/install_paths.h"
#include "kernel/kernel_btf.h"
#include "load/features.h"
#include "process/proc.h"
#include "process/process_view.h"

namespace mlbcc::doctor {
namespace {

namespace fs = std::filesystem;

std::string kernel_headers(const std::string& release) {
    std::error_code code;
    for (const std::string& path :
         {"/lib/modules/" + release + "/build", std::string("/sys/kernel/kheaders.tar.xz")}) {
        if (fs::exists(path, code)) return path;
    }
    return {};
}

Result<bpf::CompilerVersions> ask_compiler() {
    const files::InstallPaths paths(files::InstallHints::current(std::nullopt));
    Result<std::string> helper = paths.compiler();
    if (!helper) return helper.error();
    Result<bpf::CompilerProcess> started = bpf::CompilerProcess::start(*helper);
    if (!started) return started.error();
    return started->versions();
}

std::vector<FolderFinding> look_at_folders(const std::string& output) {
    std::vector<FolderFinding> folders;
    if (output != "-") {
        const fs::path folder =
            output.empty() ? fs::path("traces") : fs::path(output).parent_path();
        folders.push_back(
            {"output", files::disk_space(folder.empty() ? "." : folder.string()), true});
    }
    folders.push_back({"temporary files", files::disk_space("/tmp"), false});
    return folders;
}

std::vector<ProcessFinding> look_at_processes(const std::vector<int>& pids) {
    std::vector<ProcessFinding> found;
    for (const int pid : pids) {
        ProcessFinding one{pid, {}};
        if (auto view = process::view_of_process(pid); !view) one.error = view.error();
        found.push_back(std::move(one));
    }
    return found;
}

}  // namespace

Facts examine_machine(const std::vector<int>& pids, const std::string& output) {
    Facts found;
    utsname names{};
    ::uname(&names);
    found.release = names.release;
    found.architecture = names.machine;
    found.preemption = kernel::read_preemption();
    found.preempts_points = load::find_features().preempts_points;
    found.rights = process::read_rights();
    found.settings = process::read_settings();
    found.abilities = bpf::try_abilities();
    found.cost = bpf::measure_event(found.abilities);
    if (auto btf = kernel::KernelBtf::open(); !btf) found.btf = btf.error();
    found.headers = kernel_headers(found.release);
    found.tracefs = files::tracefs_state();
    found.tracefs_readable = ::access((found.tracefs.folder + "/events").c_str(), R_OK | X_OK) == 0;
    const auto own = process::own_pid_namespace();
    found.initial_pid_namespace = !own || own->is_initial;
    found.cgroup = process::cgroup_version();
    found.container = process::container_of(process::read_container_marks());
    found.processes = look_at_processes(pids);
    found.gpu = kernel::read_gpu_driver();
    found.compiler = ask_compiler();
    found.folders = look_at_folders(output);
    return found;
}

}  // namespace mlbcc::doctor
