#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>

#include <algorithm>

#include <fmt/format.h>

#include "bpf/assemble.h"
#include "bpf/kernel.h"
#include "bpf/preemption.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

// A program that returns 0, loaded for one way of attaching.
UniqueFd load_nothing(uint32_t attach_type) {
    return load_assembled(BPF_PROG_TYPE_KPROBE, "mlbcc_try", doing_nothing(), attach_type);
}

// A link to a path that is no regular file: a kernel that knows the way of attaching says EBADF,
// one that does not says EINVAL. Nothing is attached either way (libbpf asks for uprobe_multi so).
bool knows_link(uint32_t attach_type) {
    UniqueFd program = load_nothing(attach_type);
    if (!program) return false;
    uint64_t offset = 0;
    sys::UprobeMultiLink link{};
    link.program = static_cast<uint32_t>(program.get());
    link.attach_type = attach_type;
    link.path = reinterpret_cast<uint64_t>("/");
    link.offsets = reinterpret_cast<uint64_t>(&offset);
    link.count = 1;
    long made = sys::bpf(sys::kLinkCreate, &link, sizeof link);
    if (made >= 0) ::close(static_cast<int>(made));
    return made < 0 && errno == EBADF;
}

// As many functions, whose addresses are to be read where nothing is: a kernel that knows the way
// of attaching says EFAULT.
bool knows_kernel_link(uint32_t attach_type) {
    UniqueFd program = load_nothing(attach_type);
    if (!program) return false;
    sys::KprobeMultiLink link{};
    link.program = static_cast<uint32_t>(program.get());
    link.attach_type = attach_type;
    link.count = 1;
    link.addresses = 1;
    long made = sys::bpf(sys::kLinkCreate, &link, sizeof link);
    if (made >= 0) ::close(static_cast<int>(made));
    return made < 0 && errno == EFAULT;
}

}  // namespace

Features find_features(const TypePlaces& types) {
    Features found{types};
    const bool has_kfuncs = types.session_cookie != 0 && types.session_is_return != 0;
    found.multi = knows_link(sys::kUprobeMulti);
    found.session = has_kfuncs && found.multi && knows_link(sys::kUprobeSession);
    found.kernel_multi = knows_kernel_link(sys::kKprobeMulti);
    found.kernel_session =
        has_kfuncs && found.kernel_multi && knows_kernel_link(sys::kKprobeSession);
    found.sets_registers =
        static_cast<bool>(load_assembled(BPF_PROG_TYPE_KPROBE, "mlbcc_try", setting_a_register()));
    found.preempts_points = preempts_raw_tracepoints(types);
    found.cpus = static_cast<uint32_t>(std::max(1, libbpf_num_possible_cpus()));
    return found;
}

UniqueFd register_idle_uprobe() {
    const UniqueFd program = load_nothing(sys::kUprobeMulti);
    const UniqueFd file(::memfd_create("mlbcc-unmapped", MFD_CLOEXEC));
    if (!program || !file || ::ftruncate(file.get(), 1) != 0) return {};
    const uint64_t offset = 0, cookie = 0;
    const std::string path = fmt::format("/proc/self/fd/{}", file.get());
    return UniqueFd(
        sys::link_uprobes(program.get(), sys::kUprobeMulti, path, {&offset, 1}, {&cookie, 1}));
}

SystemCalls try_system_calls() {
    SystemCalls tried;
    uint64_t attributes[4] = {0xffffffff};  // a look into a map that is none
    if (sys::bpf(BPF_MAP_LOOKUP_ELEM, attributes, sizeof attributes) < 0) tried.bpf = errno;
    perf_event_attr attributes_of_event{};
    attributes_of_event.size = sizeof attributes_of_event;
    attributes_of_event.type = PERF_TYPE_SOFTWARE;
    attributes_of_event.config = PERF_COUNT_SW_DUMMY;
    const UniqueFd event(sys::perf_event_open(attributes_of_event, 0, -1));
    if (!event) tried.perf_event_open = errno;
    return tried;
}

uint32_t expected_attach_type(codegen::Side side, codegen::AttachMode mode) {
    bool user = side != codegen::Side::kernel;
    switch (mode) {
    case codegen::AttachMode::session: return user ? sys::kUprobeSession : sys::kKprobeSession;
    case codegen::AttachMode::multi: return user ? sys::kUprobeMulti : sys::kKprobeMulti;
    case codegen::AttachMode::perf: return 0;
    }
    return 0;
}

}  // namespace mlbcc::bpf
