#include "symbols/unwind_capture.h"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <fmt/format.h>

#include "base/read_file.h"
#include "base/unique_fd.h"

namespace mlbcc::symbols {
namespace {

void set_registers(const ucontext_t& context, plan::UserStack& to) {
    const mcontext_t& machine = context.uc_mcontext;
#ifdef __aarch64__
    to.ip = machine.pc;
    to.sp = machine.sp;
    to.saved[0] = machine.regs[29];
    to.saved[1] = machine.regs[30];
    std::copy_n(machine.regs + 19, 10, to.saved + 2);
#else
    to.ip = static_cast<uint64_t>(machine.gregs[REG_RIP]);
    to.sp = static_cast<uint64_t>(machine.gregs[REG_RSP]);
    const int saved[] = {REG_RBP, REG_RBX, REG_R12, REG_R13, REG_R14, REG_R15};
    for (size_t i = 0; i < std::size(saved); ++i) {
        to.saved[i] = static_cast<uint64_t>(machine.gregs[saved[i]]);
    }
#endif
}

_Unwind_Reason_Code add_address(_Unwind_Context* context, void* to) {
    uint64_t address = _Unwind_GetIP(context);
    if (address != 0) static_cast<std::vector<uint64_t>*>(to)->push_back(address);
    return _URC_NO_REASON;
}

}  // namespace

[[gnu::noinline]] Capture capture_here(size_t bytes) {
    Capture capture;
    ucontext_t context;
    ::getcontext(&context);
    set_registers(context, capture.from);
    capture.stack = read_memory(::getpid(), capture.from.sp, bytes);
    capture.from.bytes = capture.stack.size();
    _Unwind_Backtrace(add_address, &capture.peer);
    capture.peer.front() = capture.from.ip;  // both are in this function
    return capture;
}

#ifdef __clang__
#define MLBCC_NO_FRAME_POINTER [[gnu::noinline]]
#else
#define MLBCC_NO_FRAME_POINTER [[gnu::noinline, gnu::optimize("O2", "omit-frame-pointer")]]
#endif

extern "C" MLBCC_NO_FRAME_POINTER void unwind_chain_plain(const std::function<void()>& work) {
    work();
    keep(work);
}

extern "C" MLBCC_NO_FRAME_POINTER void unwind_chain_aligned(const std::function<void()>& work) {
    alignas(128) char line[128] = {};
    keep(line);
    unwind_chain_plain(work);
    keep(line);
}

extern "C" MLBCC_NO_FRAME_POINTER void unwind_chain_alloca(const std::function<void()>& work,
                                                           size_t size) {
    void* room = __builtin_alloca(size);
    keep(room);
    unwind_chain_aligned(work);
    keep(room);
}

extern "C" MLBCC_NO_FRAME_POINTER uint64_t unwind_chain_registers(const std::function<void()>& work,
                                                                  uint64_t a) {
    uint64_t b = a * 3, c = a ^ 5, d = a + 7, e = a * a, f = a - 9, g = a | 1;
    keep(a);
    unwind_chain_alloca(work, 72);
    return a + b * c + d * e + f * g;  // all of them outlive the call
}

Capture capture_in_chain(size_t bytes) {
    Capture capture;
    unwind_chain_registers([&] { capture = capture_here(bytes); }, 42);
    return capture;
}

std::vector<std::byte> read_memory(int pid, uint64_t address, size_t bytes) {
    // Not by process_vm_readv(2), which qemu-user does not have.
    UniqueFd file(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
    std::vector<std::byte> memory(bytes);
    size_t done = 0;
    while (done < bytes) {  // until what lies behind the stack, which cannot be read
        ssize_t part = ::pread(file.get(), memory.data() + done, bytes - done,
                               static_cast<off_t>(address + done));
        if (part <= 0) break;
        done += static_cast<size_t>(part);
    }
    memory.resize(done);
    return memory;
}

std::string maps_text(int pid) {
    Result<std::string> text = read_file("/proc/" + std::to_string(pid) + "/maps", 64 << 20);
    return text ? *text : std::string();
}

MapsFinder own_finder() {
    return {maps_text(::getpid()), static_cast<uint32_t>(::getpid())};
}

CodeFinder::Code MapsFinder::code_at(uint64_t address) {
    CodeMapping* mapping = find_mapping(maps_, address);
    if (mapping == nullptr) return {};
    if (!mapping->is_file() && mapping->path != "[vdso]") return {true, nullptr, 0};
    Module& module = modules_.of(pid_, *mapping);
    uint64_t offset = address - mapping->start + mapping->offset;
    auto place = module.symbols ? module.symbols->address_of(offset) : std::nullopt;
    return {true, place ? module.cfi.get() : nullptr, place.value_or(0)};
}

std::string MapsFinder::function(uint64_t return_address) {
    uint64_t address = return_address - 1;
    CodeMapping* mapping = find_mapping(maps_, address);
    if (mapping == nullptr || !mapping->is_file()) return {};
    Module& module = modules_.of(pid_, *mapping);
    if (!module.symbols) return {};
    auto place = module.symbols->address_of(address - mapping->start + mapping->offset);
    auto hit = place ? module.symbols->find(*place) : std::nullopt;
    return hit ? std::string(hit->name) : std::string();
}

std::vector<uint64_t> unwound(const Capture& capture, CodeFinder& finder, plan::Arch arch) {
    std::vector<uint64_t> addresses;
    Unwinder(arch).walk({capture.from, capture.stack, capture.returns, capture.more}, finder,
                        addresses);
    return addresses;
}

std::vector<std::string> functions(std::span<const uint64_t> addresses, MapsFinder& finder) {
    std::vector<std::string> names;
    for (uint64_t address : addresses) names.push_back(finder.function(address));
    return names;
}

}  // namespace mlbcc::symbols
