#include "base/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace mlbcc {
namespace {

// The kernel's own form: two halves of 32 bits.
struct Sets {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> halves{};

    bool read() { return ::syscall(SYS_capget, &header, halves.data()) == 0; }
    bool write() { return ::syscall(SYS_capset, &header, halves.data()) == 0; }
};

uint64_t joined(uint32_t low, uint32_t high) {
    return low | uint64_t{high} << 32;
}

Result<void> set_capabilities(Capabilities wanted, bool for_good) {
    Sets sets;
    if (!sets.read()) return system_error("cannot read this process's capabilities");
    for (size_t i = 0; i < sets.halves.size(); ++i) {
        __user_cap_data_struct& half = sets.halves[i];
        const auto kept = static_cast<uint32_t>(wanted.bits() >> 32 * i) & half.permitted;
        half.effective = kept;
        if (!for_good) continue;
        half.permitted = kept;
        half.inheritable = 0;
    }
    if (!sets.write()) return system_error("cannot give up capabilities");
    return {};
}

}  // namespace

Capabilities effective_capabilities() {
    Sets sets;
    if (!sets.read()) return {};
    return Capabilities(joined(sets.halves[0].effective, sets.halves[1].effective));
}

Result<void> keep_capabilities(Capabilities kept) {
    // Or root would have all again with the next program; not where a filter forbids even this.
    (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return set_capabilities(kept, true);
}

Result<void> use_capabilities(Capabilities used) {
    return set_capabilities(used, false);
}

}  // namespace mlbcc
