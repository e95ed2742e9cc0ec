// Bytes as a page holds them: deflated as they come, then base64. Numbers are written seven bits at
// a time, the lowest first (LEB128), so that small ones are short. Pieces can be inflated each by
// itself; a comma stands between two of them.
#pragma once

#include <zlib.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sink/buffer.h"

namespace mlbcc::view {

class Packed {
public:
    Packed();
    ~Packed();
    Packed(const Packed&) = delete;
    Packed& operator=(const Packed&) = delete;

    void number(uint64_t value);
    void text(std::string_view bytes);
    void end_piece();
    uint64_t bytes() const { return taken_ + raw_.size(); }  // that were given
    // Appends all of it as base64; nothing can be added any more.
    void finish(sink::Buffer& out);

private:
    static constexpr size_t kRaw = 64 << 10;
    void deflate_raw(int flush);

    z_stream stream_{};
    sink::Buffer raw_{kRaw + 64};
    std::string packed_;
    std::vector<size_t> ends_;  // in it, of the pieces
    uint64_t taken_ = 0;
};

}  // namespace mlbcc::view
