#include "kernel/kernel_release.h"

#include <sys/utsname.h>

#include <charconv>

#include "base/read_file.h"

namespace mlbcc::kernel {

KernelRelease parse_release(std::string_view release) {
    KernelRelease made;
    const char* end = release.data() + release.size();
    const auto major = std::from_chars(release.data(), end, made.major);
    if (major.ec == std::errc() && major.ptr != end && *major.ptr == '.')
        std::from_chars(major.ptr + 1, end, made.minor);
    return made;
}

KernelRelease read_release() {
    utsname names{};
    return ::uname(&names) == 0 ? parse_release(names.release) : KernelRelease{};
}

Preemption parse_preemption(std::string_view version, std::string_view chosen) {
    Preemption made{version.find("PREEMPT") != version.npos, {}};
    const size_t begin = chosen.find('('), end = chosen.find(')');
    if (begin != chosen.npos && end != chosen.npos && begin < end) {
        made.how = chosen.substr(begin + 1, end - begin - 1);
    } else if (version.find("PREEMPT_RT") != version.npos) {
        made.how = "real-time";
    } else if (!made.possible) {
        made.how = "none";
    }
    return made;
}

Preemption read_preemption() {
    utsname names{};
    ::uname(&names);
    const auto chosen = read_file("/sys/kernel/debug/sched/preempt", 4096);
    return parse_preemption(names.version, chosen ? *chosen : "");
}

}  // namespace mlbcc::kernel
