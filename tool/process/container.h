// The container that this process is in, by the marks that they leave.
#pragma once

#include <string>
#include <string_view>

namespace mlbcc::process {

enum class ContainerKind { none, docker, podman, kubernetes, lxc, other };
std::string_view container_name(ContainerKind kind);

struct ContainerMarks {
    bool dockerenv = false;     // /.dockerenv
    bool containerenv = false;  // /run/.containerenv
    bool kubernetes = false;    // KUBERNETES_SERVICE_HOST is set
    std::string variable;       // `container`, which LXC and systemd set: "lxc"
    std::string cgroup;         // text of /proc/self/cgroup
};
// Kubernetes first: what runs its containers leaves marks of its own.
ContainerKind container_of(const ContainerMarks& marks);
ContainerMarks read_container_marks();

int cgroup_version();  // of /sys/fs/cgroup: 2, 1 (also with both), 0: none is mounted

}  // namespace mlbcc::process
