// Values in bytes that lie at any alignment.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace mlbcc {

// The bytes from `offset` on must be there.
template <class T> T read_at(std::span<const std::byte> bytes, size_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

// Text of a slot of fixed size: up to its NUL, or all of it.
inline std::string_view text_at(std::span<const std::byte> bytes, size_t offset, size_t size) {
    const char* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
    return {begin, strnlen(begin, size)};
}

}  // namespace mlbcc
