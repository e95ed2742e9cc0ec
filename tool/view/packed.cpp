#include "view/packed.h"

#include <algorithm>
#include <cstdlib>

#include "base/result.h"

namespace mlbcc::view {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void write_base64(sink::Buffer& out, std::string_view bytes) {
    for (size_t at = 0; at < bytes.size(); at += 3) {
        size_t here = std::min<size_t>(3, bytes.size() - at);
        uint32_t bits = 0;
        for (size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (i < here ? static_cast<unsigned char>(bytes[at + i]) : 0u);
        for (size_t i = 0; i < 4; ++i)
            out.append(i <= here ? kDigits[bits >> (18 - 6 * i) & 63] : '=');
    }
}

}  // namespace

Packed::Packed() {
    // Raw deflate, as browsers' DecompressionStream("deflate-raw") reads it. It can only lack
    // memory.
    constexpr int kLevel = 3, kRawWindow = -15, kMemory = 8;
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, kRawWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
        std::abort();
}

Packed::~Packed() {
    deflateEnd(&stream_);
}

void Packed::deflate_raw(int flush) {
    std::string_view raw = raw_.view();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
    stream_.avail_in = static_cast<uInt>(raw.size());
    taken_ += raw.size();
    std::array<char, 32 << 10> room;
    do {
        stream_.next_out = reinterpret_cast<Bytef*>(room.data());
        stream_.avail_out = room.size();
        deflate(&stream_, flush);
        packed_.append(room.data(), room.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
    raw_.clear();
}

void Packed::number(uint64_t value) {
    for (; value >= 128; value >>= 7) raw_.append(static_cast<char>(value | 128));
    raw_.append(static_cast<char>(value));
    if (raw_.size() >= kRaw) deflate_raw(Z_NO_FLUSH);
}

void Packed::text(std::string_view bytes) {
    raw_.append(bytes);
    if (raw_.size() >= kRaw) deflate_raw(Z_NO_FLUSH);
}

void Packed::end_piece() {
    deflate_raw(Z_FINISH);
    deflateReset(&stream_);
    ends_.push_back(packed_.size());
}

void Packed::finish(sink::Buffer& out) {
    end_piece();
    size_t begin = 0;
    for (size_t end : ends_) {
        if (begin > 0) out.append(',');
        write_base64(out, std::string_view(packed_).substr(begin, end - begin));
        begin = end;
    }
}

}  // namespace mlbcc::view
