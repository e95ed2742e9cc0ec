#include "kernel/gpu_driver.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "files/scratch.h"

namespace mlbcc::kernel {
namespace {

TEST(GpuDriver, OfItsFiles) {
    files::Scratch scratch;
    EXPECT_FALSE(read_gpu_driver(scratch.path()).loaded);
    scratch.write("proc/driver/nvidia/version",
                  "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.261.03  Thu Jun 26\n"
                  "GCC version:  gcc version 12.2.0\n");
    for (const char* name : {"nvidia1", "nvidia0", "nvidiactl", "nvidia-uvm", "null"})
        scratch.write(std::string("dev/") + name, "");
    const GpuDriver driver = read_gpu_driver(scratch.path());
    EXPECT_TRUE(driver.loaded);
    EXPECT_EQ(driver.version, "535.261.03");
    EXPECT_EQ(driver.devices, (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidia1"}));
}

TEST(GpuDriver, VersionOfSysfs) {
    files::Scratch scratch;
    scratch.write("sys/module/nvidia/version", "575.51.02\n");
    EXPECT_EQ(read_gpu_driver(scratch.path()).version, "575.51.02");
    EXPECT_EQ(parse_driver_version("no numbers here"), "");
}

}  // namespace
}  // namespace mlbcc::kernel
