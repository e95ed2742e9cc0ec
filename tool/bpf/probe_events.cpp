#include "bpf/probe_events.h"

#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/open_file.h"
#include "base/read_file.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

// Of perf_event_attr::config (format/ref_ctr_offset: "config:32-63").
constexpr unsigned kSemaphoreShift = 32;

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

UniqueFd link_uprobe_event(const ProbeEvents& events, const std::string& path,
                           const EventPlace& place, int program, uint64_t cookie) {
    const HeldPath file(path);
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = events.type;
    attributes.config = place.at_return ? events.return_flags : 0;
    attributes.config |= place.semaphore << kSemaphoreShift;
    attributes.config1 = reinterpret_cast<uint64_t>(file.c_str());
    attributes.config2 = place.offset;
    const UniqueFd event(sys::perf_event_open(attributes, -1, 0));
    if (!event) return {};
    return UniqueFd(sys::link_event(program, event.get(), cookie));
}

}  // namespace mlbcc::bpf
