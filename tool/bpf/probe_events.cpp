#include "bpf/probe_events.h"

#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/read_file.h"

namespace mlbcc::bpf {
namespace {

// "config:0\n" -> 0; the dynamic PMU's description in sysfs.
std::optional<unsigned> sysfs_number(const std::string& path, std::string_view prefix) {
    Result<std::string> text = read_file(path, 4096);
    if (!text || !text->starts_with(prefix)) return std::nullopt;
    return static_cast<unsigned>(std::atoi(text->c_str() + prefix.size()));
}

}  // namespace

Result<ProbeEvents> probe_events(const std::string& kind) {
    const std::string base = "/sys/bus/event_source/devices/" + kind + "/";
    const auto type = sysfs_number(base + "type", "");
    const auto bit = sysfs_number(base + "format/retprobe", "config:");
    if (!type || !bit)
        return Error{"this kernel has no " + kind + " events (" + base + " is missing)"};
    return ProbeEvents{*type, uint64_t{1} << *bit};
}

}  // namespace mlbcc::bpf
