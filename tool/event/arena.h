// Copies of records, from the ring to the moment their event is written: chunks of memory that are
// filled one after the other and used again when nothing in them is wanted any more. No record
// costs an allocation of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mlbcc::symbols {
struct Stack;
}

namespace mlbcc::event {

// What is known of a record beside its bytes, which nobody changes.
struct RecordNotes {
    symbols::Stack* stack = nullptr;  // retained; null: none
    uint32_t hits = 0;                // clauses that it is for still, as Record::hits()
};

// Stands in front of a record's bytes.
struct StoredRecord {
    RecordNotes notes;
    uint32_t size = 0;
    uint16_t cpu = 0;
    uint8_t uses = 0, uses_left = 0;  // how often it will be released
    std::span<const std::byte> bytes() const {
        return {reinterpret_cast<const std::byte*>(this + 1), size};
    }
};

class RecordArena {
public:
    RecordArena() = default;
    RecordArena(const RecordArena&) = delete;
    RecordArena& operator=(const RecordArena&) = delete;

    static constexpr size_t kChunkBytes = 256 << 10;
    static constexpr size_t kMaxRecord = kChunkBytes / 4;  // bytes; larger ones are not taken

    // A copy that lives until it was released `uses` times.
    StoredRecord* store(uint32_t cpu, std::span<const std::byte> record, const RecordNotes& notes,
                        uint8_t uses);
    void release(StoredRecord* record);
    size_t chunks() const { return (current_ ? 1 : 0) + full_.size() + free_.size(); }

private:
    // A chunk lies at a multiple of its size, so a record's chunk is known from its address.
    struct Chunk {
        size_t used = 0;   // bytes, this header included
        size_t live = 0;   // records
        size_t place = 0;  // in full_
    };
    struct ChunkDeleter {
        void operator()(Chunk* chunk) const;
    };
    using ChunkPtr = std::unique_ptr<Chunk, ChunkDeleter>;

    void next_chunk();
    void recycle(Chunk* chunk);

    ChunkPtr current_;
    std::vector<ChunkPtr> full_, free_;
};

}  // namespace mlbcc::event
