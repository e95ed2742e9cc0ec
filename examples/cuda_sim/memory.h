// The memory of the simulated device: addresses of the host process, mapped lazily, in blocks that
// are known by their address, so that a wrong pointer is an error and not a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "../../rules/types/cuda_driver.h"
#include "books.h"
#include "control_device.h"

namespace cuda_sim {

struct Block {
    std::uintptr_t address = 0;
    std::size_t bytes = 0;  // as asked for, not rounded up
    Family family = Family::kDevice;
    CUcontext context = nullptr;
    int device = 0;               // whose memory it is
    CUmemoryPool pool = nullptr;  // of an asynchronous allocation
    unsigned flags = 0;           // of a pinned or registered range
    Object object = 0;            // the kernel module's name for it
};

class Memory {
public:
    // `capacity` is the size of each device's memory in bytes; no more can be allocated at a time.
    Memory(Books& books, ControlDevice& control, std::size_t capacity)
        : books_(books), control_(control), capacity_(capacity) {}

    // Allocates block.bytes and sets block.address: zeroed, aligned to a page.
    // CUDA_ERROR_INVALID_VALUE for no bytes, CUDA_ERROR_OUT_OF_MEMORY beyond the capacity.
    CUresult allocate(Block& block);

    // Frees the block that begins at `address` if `may_free` agrees with it; else
    // CUDA_ERROR_INVALID_VALUE.
    CUresult release(std::uintptr_t address, const std::function<bool(const Block&)>& may_free);

    // Frees every block for which `is_dead` says so: those of a context or a pool that is
    // destroyed.
    void release_all(const std::function<bool(const Block&)>& is_dead);

    // Makes a view known, or forgets it. False if it overlaps a block, or is not known.
    bool adopt(const Block& block);
    bool forget(std::uintptr_t address, Family family);

    // Takes bytes of a device for physical memory that has no address yet, and gives them back.
    CUresult take_physical(std::size_t bytes, int device);
    void give_back_physical(std::size_t bytes, int device);

    // The block in which `address` lies.
    std::optional<Block> find(std::uintptr_t address) const;

    // Whether the `bytes` bytes from `address` on are all in one known block (or in mapped views
    // side by side).
    bool covers(std::uintptr_t address, std::size_t bytes) const;

    std::size_t capacity() const { return capacity_; }
    std::size_t free_bytes(int device) const { return capacity_ - books_.device_bytes(device); }

private:
    using Blocks = std::map<std::uintptr_t, Block>;
    Blocks::const_iterator at_or_before(std::uintptr_t address) const;
    CUresult take(Family family, std::size_t bytes, int device);
    void unmap(const Block& block);

    Books& books_;
    ControlDevice& control_;
    const std::size_t capacity_;
    mutable std::mutex lock_;  // guards blocks_, and the check of the capacity
    Blocks blocks_;
};

}  // namespace cuda_sim
