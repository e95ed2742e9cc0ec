// Which capabilities this thread has (capabilities(7)), and how it does without some of them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "base/result.h"

namespace mlbcc {

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

// Those that count now. None where the kernel does not tell.
Capabilities effective_capabilities();
// Gives up all others for good, also for programs that are started later.
Result<void> keep_capabilities(Capabilities kept);
// Until the next call others do not count, but they are not given up.
Result<void> use_capabilities(Capabilities used);

}  // namespace mlbcc
