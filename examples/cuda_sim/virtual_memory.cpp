#include "virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace cuda_sim {
namespace {

void* pointer(std::uintptr_t address) {
    return reinterpret_cast<void*>(address);
}

bool is_whole(std::size_t bytes) {
    return bytes > 0 && bytes % VirtualMemory::kGranularity == 0;
}

// Makes addresses reserved and nothing else; at `address` if that is not 0. Returns 0 if the system
// has no more.
std::uintptr_t reserve_pages(std::uintptr_t address, std::size_t bytes) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address ? MAP_FIXED : 0);
    void* pages = mmap(pointer(address), bytes, PROT_NONE, flags, -1, 0);
    return pages == MAP_FAILED ? 0 : reinterpret_cast<std::uintptr_t>(pages);
}

int protection(CUmemAccess_flags access) {
    if (access == CU_MEM_ACCESS_FLAGS_PROT_NONE) return PROT_NONE;
    return access == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ : PROT_READ | PROT_WRITE;
}

}  // namespace

struct VirtualMemory::Physical {
    Memory& memory;
    int fd;
    std::size_t bytes;
    int device;
    Physical(Memory& owner, int file, std::size_t size, int device_number)
        : memory(owner), fd(file), bytes(size), device(device_number) {}
    Physical(const Physical&) = delete;
    Physical& operator=(const Physical&) = delete;
    ~Physical() {
        close(fd);
        memory.give_back_physical(bytes, device);
    }
};

CUresult VirtualMemory::reserve(std::size_t bytes, std::size_t alignment, std::uintptr_t& address) {
    alignment = std::max(alignment, kGranularity);
    if (!is_whole(bytes) || (alignment & (alignment - 1))) return CUDA_ERROR_INVALID_VALUE;
    const std::uintptr_t first = reserve_pages(0, bytes + alignment);
    if (!first) return CUDA_ERROR_OUT_OF_MEMORY;
    address = (first + alignment - 1) & ~(alignment - 1);
    if (address > first) munmap(pointer(first), address - first);
    const std::uintptr_t end = first + bytes + alignment;
    if (end > address + bytes) munmap(pointer(address + bytes), end - (address + bytes));
    std::lock_guard hold(lock_);
    reserved_[address] = bytes;
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::unreserve(std::uintptr_t address, std::size_t bytes) {
    std::lock_guard hold(lock_);
    const auto range = reserved_.find(address);
    if (range == reserved_.end() || range->second != bytes || !is_free(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    munmap(pointer(address), bytes);
    reserved_.erase(range);
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::create(std::size_t bytes, int device,
                               CUmemGenericAllocationHandle& handle) {
    if (!is_whole(bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = memory_.take_physical(bytes, device)) return error;
    const int fd = memfd_create("cuda_sim", MFD_CLOEXEC);
    auto physical = std::make_shared<Physical>(memory_, fd, bytes, device);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) < 0) return CUDA_ERROR_OUT_OF_MEMORY;
    std::lock_guard hold(lock_);
    handle = ++last_handle_;
    handles_[handle].physical = std::move(physical);
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::release(CUmemGenericAllocationHandle handle) {
    std::lock_guard hold(lock_);
    const auto found = handles_.find(handle);
    if (found == handles_.end()) return CUDA_ERROR_INVALID_VALUE;
    if (--found->second.references == 0) handles_.erase(found);
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::retain(std::uintptr_t address, CUmemGenericAllocationHandle& handle) {
    std::lock_guard hold(lock_);
    const auto mapping = mapping_at(address);
    if (mapping == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
    handle = mapping->second.handle;
    auto [known, is_new] = handles_.try_emplace(handle, Handle{mapping->second.physical});
    if (!is_new) ++known->second.references;
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::map(std::uintptr_t address, std::size_t bytes, std::size_t offset,
                            CUmemGenericAllocationHandle handle) {
    std::lock_guard hold(lock_);
    const auto found = handles_.find(handle);
    if (found == handles_.end() || !is_whole(bytes) || !is_reserved(address, bytes) ||
        !is_free(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    const auto& physical = found->second.physical;
    if (offset % kGranularity || offset > physical->bytes || bytes > physical->bytes - offset)
        return CUDA_ERROR_INVALID_VALUE;
    // Nothing can be read or written before set_access grants it, as on a device.
    void* pages = mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->fd,
                       static_cast<off_t>(offset));
    if (pages == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    mappings_.emplace(address, Mapping{bytes, handle, physical});
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::unmap(std::uintptr_t address, std::size_t bytes) {
    std::lock_guard hold(lock_);
    if (!is_mapped(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
    const auto end = mappings_.lower_bound(address + bytes);
    for (auto mapping = mappings_.find(address); mapping != end; mapping = mappings_.erase(mapping))
        memory_.forget(mapping->first, Family::kMapped);
    return reserve_pages(address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_UNMAP_FAILED;
}

CUresult VirtualMemory::set_access(std::uintptr_t address, std::size_t bytes,
                                   CUmemAccess_flags access, CUcontext context) {
    std::lock_guard hold(lock_);
    if (!is_mapped(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (mprotect(pointer(address), bytes, protection(access)) < 0) return CUDA_ERROR_INVALID_VALUE;
    const auto end = mappings_.lower_bound(address + bytes);
    for (auto mapping = mappings_.find(address); mapping != end; ++mapping) {
        mapping->second.access = access;
        memory_.forget(mapping->first, Family::kMapped);
        if (access == CU_MEM_ACCESS_FLAGS_PROT_NONE) continue;
        memory_.adopt({.address = mapping->first,
                       .bytes = mapping->second.bytes,
                       .family = Family::kMapped,
                       .context = context,
                       .device = mapping->second.physical->device});
    }
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::access_of(std::uintptr_t address, CUmemAccess_flags& access) const {
    std::lock_guard hold(lock_);
    const auto mapping = mapping_at(address);
    if (mapping == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
    access = mapping->second.access;
    return CUDA_SUCCESS;
}

bool VirtualMemory::is_reserved(std::uintptr_t address, std::size_t bytes) const {
    auto after = reserved_.upper_bound(address);
    if (after == reserved_.begin() || address % kGranularity) return false;
    const auto& [start, length] = *std::prev(after);
    return address - start <= length && bytes <= length - (address - start);
}

bool VirtualMemory::is_free(std::uintptr_t address, std::size_t bytes) const {
    const auto next = mappings_.lower_bound(address);
    if (next != mappings_.end() && next->first < address + bytes) return false;
    return mapping_at(address) == mappings_.end();
}

// Whether mappings begin at `address`, follow each other, and end at address + bytes.
bool VirtualMemory::is_mapped(std::uintptr_t address, std::size_t bytes) const {
    const std::uintptr_t end = address + bytes;
    while (address < end) {
        const auto mapping = mappings_.find(address);
        if (mapping == mappings_.end()) return false;
        address += mapping->second.bytes;
    }
    return bytes > 0 && address == end;
}

VirtualMemory::Mappings::const_iterator VirtualMemory::mapping_at(std::uintptr_t address) const {
    auto after = mappings_.upper_bound(address);
    if (after == mappings_.begin()) return mappings_.end();
    --after;
    return address - after->first < after->second.bytes ? after : mappings_.end();
}

}  // namespace cuda_sim
