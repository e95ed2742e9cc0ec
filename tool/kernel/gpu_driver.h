// NVIDIA's kernel module and the GPUs that it shows, which a container sees only in part.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mlbcc::kernel {

struct GpuDriver {
    bool loaded = false;               // the module is in the kernel
    std::string version;               // "535.261.03"; "" where it is not told
    std::vector<std::string> devices;  // "/dev/nvidia0", ...; sorted
};
// `root` differs in tests only.
GpuDriver read_gpu_driver(const std::string& root = "");

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.261.03  Thu ..." -> "535.261.03"
std::string parse_driver_version(std::string_view text);

}  // namespace mlbcc::kernel
