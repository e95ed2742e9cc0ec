#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <sys/mman.h>

#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "bpf/kernel.h"
#include "bpf/sys.h"

namespace mlbcc::bpf {
namespace {

// A program that returns 0, loaded for one way of attaching.
UniqueFd load_nothing(uint32_t attach_type) {
    const bpf_insn code[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
                             {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    options.expected_attach_type = static_cast<bpf_attach_type>(attach_type);
    return UniqueFd(bpf_prog_load(BPF_PROG_TYPE_KPROBE, "mlbcc_try", "GPL", code, 2, &options));
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

// Bytes from the beginning of `struct type` to its member, also of one without a name.
std::optional<uint32_t> offset_of(const btf* types, uint32_t id, const char* member) {
    const btf_type* type = btf__type_by_id(types, id);
    if (type == nullptr || !btf_is_composite(type)) return std::nullopt;
    for (uint16_t i = 0; i < btf_vlen(type); ++i) {
        const btf_member& one = btf_members(type)[i];
        uint32_t at = btf_member_bit_offset(type, i) / 8;
        const char* name = btf__name_by_offset(types, one.name_off);
        if (name != nullptr && std::strcmp(name, member) == 0) return at;
        if (name == nullptr || *name != '\0') continue;
        if (auto inside = offset_of(types, one.type, member)) return at + *inside;
    }
    return std::nullopt;
}

std::optional<uint32_t> offset_of(const btf* types, const char* structure, const char* member) {
    int id = btf__find_by_name_kind(types, structure, BTF_KIND_STRUCT);
    return id > 0 ? offset_of(types, static_cast<uint32_t>(id), member) : std::nullopt;
}

void read_types(const btf* types, Features& found) {
    found.task_pid_offset = offset_of(types, "task_struct", "pid");
    found.task_stack_offset = offset_of(types, "task_struct", "stack");
    auto thread = offset_of(types, "task_struct", "thread");
    auto fsbase = offset_of(types, "thread_struct", "fsbase");  // x86-64 has one
    if (thread && fsbase) found.task_fsbase_offset = *thread + *fsbase;
    int cookie = btf__find_by_name_kind(types, "bpf_session_cookie", BTF_KIND_FUNC);
    int is_return = btf__find_by_name_kind(types, "bpf_session_is_return", BTF_KIND_FUNC);
    if (cookie <= 0 || is_return <= 0) {
        found.session = found.kernel_session = false;
        return;
    }
    found.session_cookie = static_cast<uint32_t>(cookie);
    found.session_is_return = static_cast<uint32_t>(is_return);
}

}  // namespace

Features find_features() {
    Features found;
    found.multi = knows_link(sys::kUprobeMulti);
    found.session = found.multi && knows_link(sys::kUprobeSession);
    found.kernel_multi = knows_kernel_link(sys::kKprobeMulti);
    found.kernel_session = found.kernel_multi && knows_kernel_link(sys::kKprobeSession);
    const auto said = libbpf_set_print(nullptr);  // that there is none shows in `found`
    std::unique_ptr<btf, decltype(&btf__free)> types(btf__load_vmlinux_btf(), btf__free);
    libbpf_set_print(said);
    if (types)
        read_types(types.get(), found);
    else
        found.session = found.kernel_session = false;
    return found;
}

UniqueFd register_idle_uprobe() {
    const UniqueFd program = load_nothing(sys::kUprobeMulti);
    const UniqueFd file(::memfd_create("mlbcc-unmapped", MFD_CLOEXEC));
    if (!program || !file || ::ftruncate(file.get(), 1) != 0) return {};
    const uint64_t offset = 0, cookie = 0;
    const std::string path = fmt::format("/proc/self/fd/{}", file.get());
    return UniqueFd(sys::link_uprobes(program.get(), sys::kUprobeMulti, path.c_str(), {&offset, 1},
                                      {&cookie, 1}));
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
    bool user = side == codegen::Side::user;
    switch (mode) {
    case codegen::AttachMode::session: return user ? sys::kUprobeSession : sys::kKprobeSession;
    case codegen::AttachMode::multi: return user ? sys::kUprobeMulti : sys::kKprobeMulti;
    case codegen::AttachMode::perf: return 0;
    }
    return 0;
}

}  // namespace mlbcc::bpf
