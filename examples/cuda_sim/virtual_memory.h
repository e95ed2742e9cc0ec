// The virtual memory API: addresses are reserved, physical memory is created, one is mapped to the
// other, and access is granted. Physical memory is a memfd, so that one allocation can really be
// mapped at several addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "memory.h"

namespace cuda_sim {

class VirtualMemory {
public:
    // What sizes and addresses are multiples of, in bytes.
    static constexpr std::size_t kGranularity = std::size_t{2} << 20;

    explicit VirtualMemory(Memory& memory) : memory_(memory) {}

    // All return CUDA_ERROR_INVALID_VALUE for sizes that are not multiples of the granularity,
    // ranges that are not wholly reserved or mapped, and unknown handles; CUDA_ERROR_OUT_OF_MEMORY
    // where the system has no more.
    CUresult reserve(std::size_t bytes, std::size_t alignment, std::uintptr_t& address);
    CUresult unreserve(std::uintptr_t address, std::size_t bytes);
    CUresult create(std::size_t bytes, int device, CUmemGenericAllocationHandle& handle);
    CUresult release(CUmemGenericAllocationHandle handle);
    CUresult retain(std::uintptr_t address, CUmemGenericAllocationHandle& handle);
    CUresult map(std::uintptr_t address, std::size_t bytes, std::size_t offset,
                 CUmemGenericAllocationHandle handle);
    CUresult unmap(std::uintptr_t address, std::size_t bytes);
    CUresult set_access(std::uintptr_t address, std::size_t bytes, CUmemAccess_flags access,
                        CUcontext context);
    CUresult access_of(std::uintptr_t address, CUmemAccess_flags& access) const;

private:
    struct Physical;
    struct Handle {
        std::shared_ptr<Physical>
            physical;  // owned together with the mappings: it outlives the handle while mapped
        unsigned references = 1;
    };
    struct Mapping {
        std::size_t bytes;
        CUmemGenericAllocationHandle handle;
        std::shared_ptr<Physical> physical;
        CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    };
    using Mappings = std::map<std::uintptr_t, Mapping>;

    bool is_reserved(std::uintptr_t address, std::size_t bytes) const;
    bool is_free(std::uintptr_t address, std::size_t bytes) const;
    bool is_mapped(std::uintptr_t address, std::size_t bytes) const;
    Mappings::const_iterator mapping_at(std::uintptr_t address) const;

    Memory& memory_;
    mutable std::mutex lock_;
    std::map<std::uintptr_t, std::size_t> reserved_;  // address -> bytes
    std::map<CUmemGenericAllocationHandle, Handle> handles_;
    Mappings mappings_;
    CUmemGenericAllocationHandle last_handle_ = 0;
};

}  // namespace cuda_sim
