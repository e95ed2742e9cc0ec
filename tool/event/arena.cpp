#include "event/arena.h"

#include <cstring>
#include <new>
#include <utility>

#include "base/result.h"

namespace mlbcc::event {
namespace {

constexpr size_t kKeptFree = 32;  // chunks kept for the next burst: 8 MiB

size_t aligned(size_t bytes) {
    return (bytes + 7) / 8 * 8;
}

}  // namespace

void RecordArena::ChunkDeleter::operator()(Chunk* chunk) const {
    ::operator delete (chunk, std::align_val_t{kChunkBytes});
}

StoredRecord* RecordArena::store(uint32_t cpu, std::span<const std::byte> record,
                                 const RecordNotes& notes, uint8_t uses) {
    MLBCC_CHECK(record.size() <= kMaxRecord && uses > 0);
    size_t needed = sizeof(StoredRecord) + aligned(record.size());
    if (!current_ || current_->used + needed > kChunkBytes) next_chunk();
    std::byte* at = reinterpret_cast<std::byte*>(current_.get()) + current_->used;
    current_->used += needed;
    ++current_->live;
    auto* stored = new (at) StoredRecord{notes, static_cast<uint32_t>(record.size()),
                                         static_cast<uint16_t>(cpu), uses, uses};
    std::memcpy(at + sizeof(StoredRecord), record.data(), record.size());
    return stored;
}

void RecordArena::release(StoredRecord* record) {
    if (--record->uses_left > 0) return;
    auto* chunk =
        reinterpret_cast<Chunk*>(reinterpret_cast<uintptr_t>(record) & ~(kChunkBytes - 1));
    if (--chunk->live > 0) return;
    if (chunk == current_.get()) {
        chunk->used = sizeof(Chunk);
    } else {
        recycle(chunk);
    }
}

void RecordArena::next_chunk() {
    if (current_) {
        current_->place = full_.size();
        full_.push_back(std::move(current_));
    }
    if (!free_.empty()) {
        current_ = std::move(free_.back());
        free_.pop_back();
    } else {
        current_.reset(new (::operator new (kChunkBytes, std::align_val_t{kChunkBytes})) Chunk);
    }
    current_->used = sizeof(Chunk);
}

void RecordArena::recycle(Chunk* chunk) {
    size_t place = chunk->place;
    std::swap(full_[place], full_.back());
    full_[place]->place = place;
    ChunkPtr freed = std::move(full_.back());
    full_.pop_back();
    if (free_.size() < kKeptFree) free_.push_back(std::move(freed));
}

}  // namespace mlbcc::event
