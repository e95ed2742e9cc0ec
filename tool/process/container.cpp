#include "process/container.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdlib>

#include "base/read_file.h"

namespace mlbcc::process {

namespace {

constexpr size_t kMaxCgroup = 1 << 20;

bool exists(const char* path) {
    return ::access(path, F_OK) == 0;
}

}  // namespace

std::string_view container_name(ContainerKind kind) {
    switch (kind) {
    case ContainerKind::none: return "none";
    case ContainerKind::docker: return "docker";
    case ContainerKind::podman: return "podman";
    case ContainerKind::kubernetes: return "kubernetes";
    case ContainerKind::lxc: return "lxc";
    case ContainerKind::other: return "other";
    }
    return "";
}

ContainerKind container_of(const ContainerMarks& marks) {
    auto in_cgroup = [&](std::string_view part) {
        return marks.cgroup.find(part) != std::string::npos;
    };
    if (marks.kubernetes || in_cgroup("kubepods")) return ContainerKind::kubernetes;
    if (marks.containerenv || marks.variable == "podman" || in_cgroup("libpod"))
        return ContainerKind::podman;
    if (marks.dockerenv || marks.variable == "docker" || in_cgroup("/docker"))
        return ContainerKind::docker;
    if (marks.variable == "lxc" || in_cgroup("/lxc")) return ContainerKind::lxc;
    return marks.variable.empty() ? ContainerKind::none : ContainerKind::other;
}

ContainerMarks read_container_marks() {
    ContainerMarks marks;
    marks.dockerenv = exists("/.dockerenv");
    marks.containerenv = exists("/run/.containerenv");
    marks.kubernetes = std::getenv("KUBERNETES_SERVICE_HOST") != nullptr;
    if (const char* variable = std::getenv("container")) marks.variable = variable;
    if (auto cgroup = read_file("/proc/self/cgroup", kMaxCgroup)) marks.cgroup = std::move(*cgroup);
    return marks;
}

int cgroup_version() {
    struct statfs status {};
    if (::statfs("/sys/fs/cgroup", &status) != 0) return 0;
    if (status.f_type == CGROUP2_SUPER_MAGIC) return 2;
    return status.f_type == TMPFS_MAGIC || status.f_type == CGROUP_SUPER_MAGIC ? 1 : 0;
}

}  // namespace mlbcc::process
