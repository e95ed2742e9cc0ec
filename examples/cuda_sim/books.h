// The simulator's own count of what happened, written at exit so that a test can compare a trace
// with it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "symbols.h"

namespace cuda_sim {

// How a range of addresses came to be known: by an allocation of the device or of pinned pages of
// the host, or (registered, mapped) as a view of memory that is accounted for elsewhere.
enum class Family : unsigned {
    kDevice,
    kPitch,
    kManaged,
    kAsync,
    kPhysical,
    kHost,
    kRegistered,
    kMapped,
    kCount
};

constexpr bool is_view(Family family) {
    return family == Family::kRegistered || family == Family::kMapped;
}
constexpr bool on_device(Family family) {
    return family != Family::kHost && !is_view(family);
}

enum class Direction : unsigned { kHostToDevice, kDeviceToHost, kDeviceToDevice, kCount };

template <typename Enum> constexpr std::size_t index_of(Enum value) {
    return static_cast<std::size_t>(value);
}

class Books {
public:
    void called(Symbol symbol) { add(calls_[index_of(symbol)], 1); }
    void failed(Symbol symbol) { add(failures_[index_of(symbol)], 1); }  // did not return success
    void launched() { add(launches_, 1); }  // a kernel was asked for; a captured launch counts too
    void launch_captured() { add(captured_, 1); }  // into a graph instead of being run
    void kernel_ran(std::string_view name);  // a kernel was executed, by a launch or by a graph
    void graph_kernel_ran() { add(graph_kernels_, 1); }  // by the launch of a graph
    void graph_launched() { add(graph_launches_, 1); }
    void copied(Direction direction, std::size_t bytes) {
        add(copied_[index_of(direction)], bytes);
    }
    // Of a copy between host and device: whether its memory of the host is pinned or registered.
    void host_side(bool is_pinned, std::size_t bytes) {
        add(is_pinned ? pinned_ : pageable_, bytes);
    }
    // `device` matters to the families that take memory of a device.
    void allocated(Family family, std::size_t bytes, int device) {
        account(family, &Account::take, bytes, device);
    }
    void freed(Family family, std::size_t bytes, int device) {
        account(family, &Account::give_back, bytes, device);
    }

    // Bytes of a device that are allocated now.
    std::uint64_t device_bytes(int device) const;

    // How many devices the books are written for.
    void set_devices(int count) { devices_.resize(static_cast<std::size_t>(count)); }

    // Writes everything as one JSON object to `path`, in which "%p" becomes the process id. Returns
    // false if it cannot.
    bool write(const char* path) const;

private:
    using Counter = std::atomic<std::uint64_t>;
    struct Account {
        std::uint64_t bytes = 0, current = 0, peak = 0, allocations = 0, frees = 0;
        void take(std::size_t n);
        void give_back(std::size_t n);
    };

    static void add(Counter& counter, std::uint64_t n) {
        counter.fetch_add(n, std::memory_order_relaxed);
    }
    void account(Family family, void (Account::*change)(std::size_t), std::size_t bytes,
                 int device);
    using SymbolCounters = std::array<Counter, kSymbolCount>;
    static void write_account(void* file, const char* name, const Account& account);
    static void write_counters(void* file, const char* name, const SymbolCounters& counters);
    void write_kernels(void* file) const;

    SymbolCounters calls_{}, failures_{};
    std::array<Counter, index_of(Direction::kCount)> copied_{};
    Counter launches_{0}, captured_{0}, kernels_run_{0}, graph_launches_{0}, graph_kernels_{0};
    Counter pinned_{0}, pageable_{0};  // bytes

    mutable std::mutex lock_;                                    // guards what follows
    std::map<std::string, std::uint64_t, std::less<>> kernels_;  // runs by name
    std::array<Account, index_of(Family::kCount)> families_{};
    Account device_, host_;         // device_ is the sum of all devices
    std::vector<Account> devices_;  // by number
};

}  // namespace cuda_sim
