// What this process may do: its capabilities (capabilities(7)), and what takes their effect away.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/result.h"

namespace mlbcc::system {

// A set of them, by their numbers in linux/capability.h.
class Capabilities {
public:
    Capabilities() = default;
    Capabilities(std::initializer_list<int> numbers) {
        for (int number : numbers) add(number);
    }
    explicit Capabilities(uint64_t bits) : bits_(bits) {}

    void add(int number) { bits_ |= uint64_t{1} << number; }
    bool has(int number) const { return (bits_ >> number & 1) != 0; }
    bool empty() const { return bits_ == 0; }
    uint64_t bits() const { return bits_; }
    Capabilities operator&(Capabilities other) const { return Capabilities(bits_ & other.bits_); }
    Capabilities operator|(Capabilities other) const { return Capabilities(bits_ | other.bits_); }
    Capabilities without(Capabilities other) const { return Capabilities(bits_ & ~other.bits_); }
    bool operator==(const Capabilities&) const = default;

private:
    uint64_t bits_ = 0;
};

// "CAP_BPF and CAP_PERFMON"; one that has no name here by its number.
std::string names(Capabilities capabilities);
// "--cap-add BPF --cap-add PERFMON", the flags of a container that has them
std::string container_flags(Capabilities capabilities);

// Those that count now. None where /proc and the kernel do not tell.
// Of CAP_BPF and CAP_PERFMON; CAP_SYS_ADMIN stands for both (bpf_capable() and perfmon_capable(),
// linux/capability.h).
Capabilities missing_for_tracing(Capabilities own);

Capabilities effective_capabilities();
// Gives up all others for good, also for programs that are started later.
Result<void> keep_capabilities(Capabilities kept);
// Until the next call others do not count, but they are not given up.
Result<void> use_capabilities(Capabilities used);

// Capabilities of another one do not count for the kernel as a whole.
bool in_first_user_namespace();
bool has_seccomp_filter();

}  // namespace mlbcc::system
