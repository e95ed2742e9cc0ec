// What the kernel says it has missed: programs that it skipped, and probes on functions of its own
// whose returns it could not follow.
#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <array>

#include "bpf/kernel.h"

namespace mlbcc::bpf {
namespace {

// The beginning of struct bpf_link_info, as uapi/linux/bpf.h of Linux 6.8 has it.
struct LinkInfo {
    uint32_t type = 0, id = 0, program = 0, padding = 0;
    std::array<uint64_t, 8> of_its_type{};
};
constexpr uint32_t kPerfEventLink = 7, kKprobeMultiLink = 8;  // enum bpf_link_type
constexpr uint32_t kKprobeEvent = 3, kKretprobeEvent = 4;     // enum bpf_perf_event_type

uint64_t missed_by(const UniqueFd& link) {
    LinkInfo info;
    uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(link.get(), &info, &size) != 0) return 0;
    if (info.type == kKprobeMultiLink) return info.of_its_type[2];  // behind addrs, count, flags
    const auto event = static_cast<uint32_t>(info.of_its_type[0]);
    const bool function = event == kKprobeEvent || event == kKretprobeEvent;
    // Behind the event's type, its name, that one's length, an offset, and the address.
    return info.type == kPerfEventLink && function ? info.of_its_type[4] : 0;
}

uint64_t skipped_of(int program) {
    bpf_prog_info info{};
    uint32_t size = sizeof info;
    return bpf_obj_get_info_by_fd(program, &info, &size) == 0 ? info.recursion_misses : 0;
}

template <class Programs> uint64_t skipped_in(const Programs& programs) {
    uint64_t sum = 0;
    for (const auto& [key, program] : programs) sum += skipped_of(program.get());
    return sum;
}

}  // namespace

uint64_t Attachment::missed() const {
    uint64_t sum = 0;
    for (const std::vector<UniqueFd>* links : {&returns_, &links_}) {
        for (const UniqueFd& link : *links) sum += missed_by(link);
    }
    return sum;
}

uint64_t LoadedProgram::skipped() const {
    return skipped_in(programs);
}

uint64_t Dispatcher::skipped() const {
    return skipped_in(programs_);
}

}  // namespace mlbcc::bpf
