#include "memory.h"

#include <sys/mman.h>

namespace cuda_sim {
CUresult Memory::take(Family family, std::size_t bytes, int device) {
    const std::size_t used = books_.device_bytes(device);
    if (on_device(family) && (bytes > capacity_ || used > capacity_ - bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    books_.allocated(family, bytes, device);
    return CUDA_SUCCESS;
}

CUresult Memory::allocate(Block& block) {
    if (block.bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard hold(lock_);
    if (CUresult error = take(block.family, block.bytes, block.device)) return error;
    // Without reservation: a device of 8 GiB costs the host only what is written.
    void* pages = mmap(nullptr, block.bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        books_.freed(block.family, block.bytes, block.device);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    block.address = reinterpret_cast<std::uintptr_t>(pages);
    if (on_device(block.family)) block.object = control_.create(ObjectClass::kVideoMemory);
    blocks_[block.address] = block;
    return CUDA_SUCCESS;
}

void Memory::unmap(const Block& block) {
    if (!is_view(block.family)) munmap(reinterpret_cast<void*>(block.address), block.bytes);
    books_.freed(block.family, block.bytes, block.device);
    control_.destroy(block.object);
}

CUresult Memory::release(std::uintptr_t address,
                         const std::function<bool(const Block&)>& may_free) {
    std::lock_guard hold(lock_);
    auto found = blocks_.find(address);
    if (found == blocks_.end() || !may_free(found->second)) return CUDA_ERROR_INVALID_VALUE;
    unmap(found->second);
    blocks_.erase(found);
    return CUDA_SUCCESS;
}

void Memory::release_all(const std::function<bool(const Block&)>& is_dead) {
    std::lock_guard hold(lock_);
    std::erase_if(blocks_, [&](const auto& entry) {
        if (!is_dead(entry.second)) return false;
        unmap(entry.second);
        return true;
    });
}

bool Memory::adopt(const Block& block) {
    std::lock_guard hold(lock_);
    auto next = blocks_.lower_bound(block.address);
    if (next != blocks_.end() && next->first < block.address + block.bytes) return false;
    auto before = at_or_before(block.address);
    if (before != blocks_.end() && block.address < before->first + before->second.bytes)
        return false;
    blocks_[block.address] = block;
    books_.allocated(block.family, block.bytes, block.device);
    return true;
}

bool Memory::forget(std::uintptr_t address, Family family) {
    std::lock_guard hold(lock_);
    auto found = blocks_.find(address);
    if (found == blocks_.end() || found->second.family != family) return false;
    unmap(found->second);
    blocks_.erase(found);
    return true;
}

CUresult Memory::take_physical(std::size_t bytes, int device) {
    std::lock_guard hold(lock_);
    return take(Family::kPhysical, bytes, device);
}

void Memory::give_back_physical(std::size_t bytes, int device) {
    books_.freed(Family::kPhysical, bytes, device);
}

Memory::Blocks::const_iterator Memory::at_or_before(std::uintptr_t address) const {
    auto after = blocks_.upper_bound(address);
    return after == blocks_.begin() ? blocks_.end() : std::prev(after);
}

std::optional<Block> Memory::find(std::uintptr_t address) const {
    std::lock_guard hold(lock_);
    auto block = at_or_before(address);
    if (block == blocks_.end() || address - block->first >= block->second.bytes)
        return std::nullopt;
    return block->second;
}

bool Memory::covers(std::uintptr_t address, std::size_t bytes) const {
    while (true) {
        const auto block = find(address);
        if (!block) return false;
        const std::size_t rest = block->address + block->bytes - address;
        if (bytes <= rest) return true;
        if (block->family != Family::kMapped) return false;
        address += rest;
        bytes -= rest;
    }
}

}  // namespace cuda_sim
