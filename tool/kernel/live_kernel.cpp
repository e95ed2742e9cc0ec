#include "kernel/live_kernel.h"

#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "files/mounts.h"
#include "text/glob.h"

namespace mlbcc::kernel {

namespace {

constexpr const char* kEvents = "/sys/bus/event_source/devices/kprobe";
constexpr uint32_t kTaskDepth = 8;  // pointers, from `task` on
constexpr uint64_t kBeforeTrace =
    16;  // bytes from a function's beginning to ftrace's call, at most

// Without kprobes there may still be ftrace, which probes that all functions share are made with.
Error no_probes() {
    return Error{"the kernel was built without CONFIG_KPROBES: there is neither " +
                     std::string(kEvents) + " nor a list of functions that ftrace can trace",
                 0,
                 {}};
}

void add_name(std::vector<std::string>& names, const std::string& name) {
    if (names.empty() || names.back() != name) names.push_back(name);
}

}  // namespace

Result<void> LiveKernel::read_functions() {
    if (functions_) return {};
    KernelFunctionFiles files;
    const Result<std::string> tracefs = files::ensure_tracefs();
    if (tracefs) files.tracefs = *tracefs;
    Result<KernelFunctions> read = KernelFunctions::read(files);
    const bool has_ftrace = read && read->is_from_ftrace();
    if (!has_ftrace && ::access(kEvents, F_OK) != 0) return no_probes();
    if (!read) return read.error();
    functions_.emplace(std::move(*read));
    return {};
}

const KernelFunctions* LiveKernel::kallsyms() {
    if (!functions_->is_from_ftrace()) return &*functions_;
    if (!kallsyms_) {
        KernelFunctionFiles files;
        files.tracefs.clear();  // so that it is not from there
        Result<KernelFunctions> read = KernelFunctions::read(files);
        if (!read) return nullptr;
        kallsyms_.emplace(std::move(*read));
    }
    return &*kallsyms_;
}

// All functions of the symbol, by their addresses. What ftrace gives is the address of its call
// in the function; kernels before 6.5 give none.
void LiveKernel::add_by_address(const LiveFunction& named, target::KernelSearch& search) {
    const KernelFunctions* all = kallsyms();
    bool is_known = false;
    for (const LiveFunction& one :
         all != nullptr ? all->find(named.symbol) : std::vector<LiveFunction>{}) {
        if (one.symbol != named.symbol || one.module != named.module || one.address == 0) continue;
        const bool is_this = named.address == 0 || named.address - one.address < kBeforeTrace;
        if (!is_this) continue;
        is_known = true;
        search.functions.push_back({one.symbol, one.name, one.module, one.address});
    }
    if (!is_known) add_name(search.ambiguous, named.symbol);
}

// What ftrace does not list may still be there: of a pattern that matches nothing else, the kernel
// has the last word.
void LiveKernel::add_unlisted(const std::string& pattern, std::vector<LiveFunction>& found,
                              target::KernelSearch& search) {
    const KernelFunctions* all = kallsyms();
    if (all == nullptr) return;
    if (found.empty()) {
        found = all->find(pattern);
        return;
    }
    if (!is_glob(pattern)) return;
    const auto key = [](const LiveFunction& f) { return std::tie(f.symbol, f.module); };
    for (const LiveFunction& one : all->find(pattern)) {
        if (one.module.empty() || std::ranges::binary_search(found, key(one), {}, key)) continue;
        search.unprobed.push_back({one.symbol, one.name, one.module, 0});
    }
}

Result<target::KernelSearch> LiveKernel::find(const std::string& pattern, bool thorough) {
    if (auto read = read_functions(); !read) return read.error();
    target::KernelSearch search;
    search.known = functions_->size();
    std::vector<LiveFunction> found = functions_->find(pattern);
    if (thorough && functions_->is_from_ftrace()) add_unlisted(pattern, found, search);
    for (const LiveFunction& one : found) {
        if (one.is_blacklisted) {
            add_name(search.blacklisted, one.symbol);
        } else if (one.is_ambiguous) {
            add_by_address(one, search);
        } else {
            search.functions.push_back({one.symbol, one.name, one.module, 0});
        }
    }
    return search;
}

std::vector<std::string> LiveKernel::names() {
    return functions_ ? functions_->names() : std::vector<std::string>();
}

Result<KernelBtf*> LiveKernel::btf() {
    if (!btf_) {
        Result<KernelBtf> opened = KernelBtf::open();
        if (!opened) return opened.error();
        btf_.emplace(std::move(*opened));
    }
    return &*btf_;
}

// Of a function that the compiler has made another of, nobody knows the parameters.
const rules::Signature* LiveKernel::signature(const target::KernelFunction& function,
                                              rules::TypeTable& types) {
    if (function.symbol != function.base) return nullptr;
    const Result<KernelBtf*> known = btf();
    if (!known) return nullptr;
    if (!types_) types_.emplace(**known, types);
    const auto found = types_->signature(function.base, function.module);
    return found ? *found : nullptr;
}

Result<uint32_t> LiveKernel::offset(const std::string& field) {
    const Result<KernelBtf*> known = btf();
    if (!known) return known.error();
    const Result<KernelField> found = (*known)->field(field);
    if (!found) return found.error();
    return found->offset;
}

Result<rules::TypeId> LiveKernel::task(const KernelTypes::Names& members, rules::TypeTable& types) {
    const Result<KernelBtf*> known = btf();
    if (!known) return known.error();
    const Result<rules::TypeId> record =
        KernelTypes(**known, types, kTaskDepth, members).type("task_struct");
    if (!record) return record.error();
    return types.add({"struct task_struct *", rules::PointerType{*record, false}});
}

}  // namespace mlbcc::kernel
