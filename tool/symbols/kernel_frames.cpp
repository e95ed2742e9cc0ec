#include "symbols/kernel_frames.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace mlbcc::symbols {
namespace {

constexpr size_t kMaxFrames = 65536;  // remembered

// Functions that bring a tracepoint or a return probe to its BPF program; programs themselves have
// a name only where net.core.bpf_jit_kallsyms is set.
constexpr auto kMachinery = std::to_array<std::string_view>(
    {"bpf_", "__bpf_", "__traceiter_", "__probestub_", "perf_trace_", "perf_syscall_",
     "perf_call_bpf", "trace_call_bpf", "arch_rethook_", "rethook_", "kretprobe_"});

bool is_machinery(std::string_view function) {
    return std::ranges::any_of(kMachinery,
                               [&](std::string_view start) { return function.starts_with(start); });
}

}  // namespace

// A return address may be the first byte of the next function, so it is looked up by the byte
// before it; the innermost one is none.
const KernelFrames::Frame& KernelFrames::frame(uint64_t address, bool is_innermost) {
    auto& known = is_innermost ? innermost_ : callers_;
    if (auto found = known.find(address); found != known.end()) return found->second;
    if (known.size() >= kMaxFrames) known.clear();
    Frame& made = known[address];
    uint64_t back = is_innermost ? 0 : 1;
    auto name = names_ ? names_(address - back) : std::nullopt;
    if (!name) {
        made.text = fmt::format("[kernel]+{:#x}", address);
        return made;
    }
    made.function = name->function;
    const char* colon = name->module.empty() ? "" : ":";
    made.text = fmt::format("[kernel{}{}]:{}+{:#x}", colon, name->module, name->function,
                            name->offset + back);
    return made;
}

void KernelFrames::add(const KernelStackCopy& stack, std::vector<std::string>& out) {
    const size_t first = out.size();
    size_t own = 0;  // of the probe's: those that come before what it is in
    bool only_own = true;
    for (size_t i = 0; i < stack.addresses.size(); ++i) {
        const Frame& one = frame(stack.addresses[i], i == 0);
        out.push_back(one.text);
        // A function's stack is that of who called it.
        bool is_function = stack.probe != nullptr && i == 0 &&
                           stack.probe->kind == plan::ProbeKind::kernel &&
                           one.function == stack.probe->symbol;
        bool is_own = is_function || is_machinery(one.function);
        if (only_own && is_own) own = i + 1;
        only_own = only_own && (is_own || one.function.empty());
    }
    auto begin = out.begin() + static_cast<ptrdiff_t>(first);
    out.erase(begin, begin + static_cast<ptrdiff_t>(own));
    if (stack.addresses.size() == plan::kMaxKernelFrames) out.emplace_back("...");
}

}  // namespace mlbcc::symbols
