#include "trace/messages.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

namespace mlbcc::trace {

int tell(const Error& error) {
    fmt::print(stderr, "error: {}\n", error.message());
    if (!error.help.empty()) fmt::print(stderr, "   = help: {}\n", error.help);
    return kExitFailure;
}

bool tell(const Diagnostics& diagnostics, Verbosity verbosity) {
    bool shown = diagnostics.has_errors() || verbosity != Verbosity::quiet;
    if (shown && !diagnostics.all().empty()) {
        fmt::print(stderr, "{}", diagnostics.render(::isatty(STDERR_FILENO) == 1));
    }
    return diagnostics.has_errors();
}

void tell_note(Verbosity verbosity, const std::string& text) {
    if (verbosity != Verbosity::quiet) fmt::print(stderr, "mlbcc: {}\n", text);
}

bool may_trace() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    if (::syscall(SYS_capget, &header, data) != 0) return false;
    auto has = [&](unsigned capability) {
        return (data[capability / 32].effective >> capability % 32 & 1u) != 0;
    };
    constexpr unsigned kPerfmon = 38, kBpf = 39;
    return has(CAP_SYS_ADMIN) || (has(kBpf) && has(kPerfmon));
}

}  // namespace mlbcc::trace
