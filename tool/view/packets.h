// The packets of a Perfetto trace to its file: as they come, or as a ring of the latest. A ring is
// made of pieces that can be read without those before: what packets refer to (names, tracks) is
// said again in each.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "sink/output_file.h"

namespace perfetto::protos {
class TracePacket;
}

namespace mlbcc::view {

class Packets {
public:
    static constexpr uint64_t kLeast = 64 << 10;  // bytes of a ring

    // With `max_size`, bytes, the file is written at the end, and is that long at most.
    Packets(sink::OutputFile file, std::optional<uint64_t> max_size);

    uint64_t piece() const { return piece_; }  // that add() writes to
    bool empty() const { return piece_ == 1 && is_first_; }
    // Sets the packet's sequence. `is_whole`: whole() follows.
    void add(perfetto::protos::TracePacket& packet, bool is_whole);
    void whole();  // the next packet needs none before it but those that it refers to
    bool failed() const { return failure_.has_value(); }
    Result<void> finish();

private:
    struct Piece {
        std::string bytes;
        uint64_t packets = 0;
        uint64_t first_ns = 0;
    };
    static constexpr size_t kPieces = 16;       // of a ring
    static constexpr size_t kNotice = 1 << 10;  // bytes that are kept for what tells of the cut
    static constexpr size_t kWriteAt = 256 << 10;

    static void append(std::string& out, const perfetto::protos::TracePacket& packet);
    void write(std::string_view bytes);
    void next_piece();
    void drop_beyond(uint64_t bytes);
    void tell_cut();

    sink::OutputFile file_;
    std::optional<uint64_t> max_size_;
    size_t piece_bytes_;
    Piece now_;
    std::deque<Piece> ring_;
    uint64_t ring_bytes_ = 0, dropped_ = 0, piece_ = 1;
    bool is_first_ = true;  // of its piece
    std::optional<Error> failure_;
};

struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
};

// Names to the numbers that stand for them.
class NameIds {
public:
    // Calls `add` with the number where the piece has not said what it stands for.
    template <class Add> uint64_t id_of(std::string_view name, uint64_t piece, Add&& add) {
        auto found = known_.find(name);
        if (found == known_.end()) {
            if (known_.size() >= kMost) known_.clear();  // a number never gets another meaning
            found = known_.emplace(std::string(name), Known{++last_, 0}).first;
        }
        if (found->second.piece != piece) add(found->second.id);
        found->second.piece = piece;
        return found->second.id;
    }

private:
    static constexpr size_t kMost = 1 << 16;
    struct Known {
        uint64_t id, piece;
    };
    std::unordered_map<std::string, Known, TextHash, std::equal_to<>> known_;
    uint64_t last_ = 0;
};

// What tracks are called.
class Tracks {
public:
    // The piece has not said so yet, or the name is another one now.
    bool is_new(uint64_t track, std::string_view name, uint64_t piece) {
        if (known_.size() >= kMost && !known_.contains(track)) known_.clear();
        Known& known = known_[track];
        if (known.piece == piece && known.name == name) return false;
        known.piece = piece;
        known.name = name;
        return true;
    }
    std::string_view name_of(uint64_t track) const {
        auto found = known_.find(track);
        return found == known_.end() ? std::string_view() : found->second.name;
    }

private:
    static constexpr size_t kMost = 1 << 16;
    struct Known {
        std::string name;
        uint64_t piece = 0;
    };
    std::unordered_map<uint64_t, Known> known_;
};

}  // namespace mlbcc::view
