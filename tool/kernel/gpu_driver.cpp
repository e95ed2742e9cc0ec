#include "kernel/gpu_driver.h"

#include <algorithm>
#include <filesystem>

#include "base/read_file.h"

namespace mlbcc::kernel {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDevice = "nvidia";
constexpr size_t kMaxVersion = 4096;  // bytes

bool is_version(std::string_view word) {
    return word.find('.') != std::string_view::npos &&
           word.find_first_not_of("0123456789.") == std::string_view::npos;
}

// "nvidia0", and not "nvidiactl" or "nvidia-uvm", which are there without a GPU, too.
bool is_gpu(std::string_view name) {
    if (!name.starts_with(kDevice) || name.size() == kDevice.size()) return false;
    name.remove_prefix(kDevice.size());
    return name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string parse_driver_version(std::string_view text) {
    constexpr std::string_view kBlank = " \t\n";
    while (!text.empty()) {
        const size_t begin = text.find_first_not_of(kBlank);
        if (begin == std::string_view::npos) break;
        text.remove_prefix(begin);
        const std::string_view word = text.substr(0, text.find_first_of(kBlank));
        if (is_version(word)) return std::string(word);
        text.remove_prefix(word.size());
    }
    return {};
}

GpuDriver read_gpu_driver(const std::string& root) {
    GpuDriver driver;
    std::error_code code;
    driver.loaded = fs::exists(root + "/sys/module/nvidia", code) ||
                    fs::exists(root + "/proc/driver/nvidia", code);
    for (const char* file : {"/proc/driver/nvidia/version", "/sys/module/nvidia/version"}) {
        auto text = read_file(root + file, kMaxVersion);
        if (text && driver.version.empty()) driver.version = parse_driver_version(*text);
    }
    for (const auto& entry : fs::directory_iterator(root + "/dev", code)) {
        const std::string name = entry.path().filename().string();
        if (is_gpu(name)) driver.devices.push_back("/dev/" + name);
    }
    std::sort(driver.devices.begin(), driver.devices.end());
    return driver;
}

}  // namespace mlbcc::kernel
