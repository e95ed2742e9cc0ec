// The bytes of one record, with its header read: what the kernel's ring carries, as plan.h lays it
// out. Reads are by memcpy: a ring gives records at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "plan/plan.h"

namespace mlbcc::event {

struct Record {
    plan::RecordHeader header{};
    std::span<const std::byte> bytes;  // at least the header

    explicit Record(std::span<const std::byte> all)
        : header(read_at<plan::RecordHeader>(all, 0)), bytes(all) {}

    plan::RecordKind kind() const { return static_cast<plan::RecordKind>(header.what & 0x7f); }
    bool is_tail_call() const { return (header.what & plan::kTailCall) != 0; }
    // Only of a return record.
    bool goes_on() const { return (header.what & plan::kGoesOn) != 0; }
    uint32_t hits() const { return header.what >> 8; }
    std::string_view comm() const {
        return text_at(bytes, offsetof(plan::RecordHeader, comm), sizeof header.comm);
    }
    // Only of a return record.
    uint64_t start_ns() const { return read_at<uint64_t>(bytes, sizeof(plan::RecordHeader)); }
    // Only of a process record.
    plan::ProcessRecord process() const {
        return read_at<plan::ProcessRecord>(bytes, sizeof(plan::RecordHeader));
    }
};

inline constexpr size_t kReturnBytes = sizeof(plan::RecordHeader) + sizeof(plan::ReturnHeader);
inline constexpr size_t kProcessBytes = sizeof(plan::RecordHeader) + sizeof(plan::ProcessRecord);

}  // namespace mlbcc::event
