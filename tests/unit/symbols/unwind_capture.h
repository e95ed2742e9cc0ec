// For tests of the unwinder: what a record carries of a stack, taken here and now or from a stopped
// process, beside the return addresses that another unwinder (libgcc's) finds at the same place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "symbols/modules.h"
#include "symbols/unwind.h"

namespace mlbcc::symbols {

inline constexpr plan::Arch kHostArch =
#ifdef __aarch64__
    plan::Arch::arm64;
#else
    plan::Arch::x86_64;
#endif

struct Capture {
    plan::UserStack from{};
    std::vector<std::byte> stack;
    std::vector<std::byte> returns;  // of plan::AwaitedReturn
    std::vector<std::byte> more;     // of the stack, above the first bytes
    std::vector<uint64_t> peer;      // libgcc's; the first is from.ip
};

inline constexpr auto kLost = uint64_t(Cut::lost), kBeyondCopy = uint64_t(Cut::copy),
                      kBeyondFile = uint64_t(Cut::file), kTooDeep = uint64_t(Cut::deep);
inline constexpr size_t kWholeStack = 1 << 20;  // a copy ends where the stack does

// Its own frame and its callers', with at most `bytes` of the stack.
Capture capture_here(size_t bytes);
// The same below unwind_chain_registers, _alloca, _aligned and _plain, whose frames differ in
// shape.
Capture capture_in_chain(size_t bytes);
extern "C" void unwind_chain_plain(const std::function<void()>& work);

// Keeps a value in use, and the call before it from being a jump.
template <class T> void keep(T& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

// The words of process `pid` from `address` upward, as far as they are readable.
std::vector<std::byte> read_memory(int pid, uint64_t address, size_t bytes);

std::string maps_text(int pid);

// Answers as the tracer does: from a maps file's text and the ELF files that it names.
class MapsFinder : public CodeFinder {
public:
    MapsFinder(std::string_view maps, uint32_t pid) : maps_(code_mappings(maps)), pid_(pid) {}
    Code code_at(uint64_t address) override;
    bool is_executable(uint64_t address) const { return find_mapping(maps_, address) != nullptr; }
    // The function that a return address is in, "" if it has no name.
    std::string function(uint64_t return_address);

private:
    std::vector<CodeMapping> maps_;
    uint32_t pid_;
    Modules modules_{SymbolRoots{}};
};

MapsFinder own_finder();

std::vector<uint64_t> unwound(const Capture& capture, CodeFinder& finder,
                              plan::Arch arch = kHostArch);
std::vector<std::string> functions(std::span<const uint64_t> addresses, MapsFinder& finder);

}  // namespace mlbcc::symbols
