// Text that grows and is written out again and again: appending a number or a piece of text is a
// check for room and a copy.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace mlbcc::sink {

constexpr size_t kWriteAt = 256 << 10;  // bytes that are written at once

class Buffer {
public:
    explicit Buffer(size_t capacity) : memory_(new char[capacity]), capacity_(capacity) {}

    std::string_view view() const { return {memory_.get(), size_}; }
    size_t size() const { return size_; }
    void clear() { size_ = 0; }

    void append(std::string_view text) {
        if (text.empty()) return;  // it may be nowhere
        std::memcpy(room(text.size()), text.data(), text.size());
        size_ += text.size();
    }
    void append(char c) {
        *room(1) = c;
        ++size_;
    }
    void number(uint64_t value) { digits(value, 10); }
    void signed_number(int64_t value) { digits(value, 10); }
    void hex(uint64_t value) {
        append("0x");
        digits(value, 16);
    }
    // `value` with leading zeros, `digits` long: what stands behind a decimal point.
    void fraction(uint64_t value, int digits) {
        char* end = room(static_cast<size_t>(digits)) + digits;
        for (char* c = end; c != at();) {
            *--c = static_cast<char>('0' + value % 10);
            value /= 10;
        }
        take(end);
    }

private:
    static constexpr size_t kDigits = 20;  // of the longest number, with its sign

    char* at() { return memory_.get() + size_; }
    void take(char* end) { size_ = static_cast<size_t>(end - memory_.get()); }
    template <class T> void digits(T value, int base) {
        char* begin = room(kDigits);  // before any other place is taken: the memory may move
        take(std::to_chars(begin, begin + kDigits, value, base).ptr);
    }
    char* room(size_t bytes) {
        if (capacity_ - size_ < bytes) grow(bytes);
        return at();
    }
    void grow(size_t bytes);

    std::unique_ptr<char[]> memory_;
    size_t capacity_, size_ = 0;
};

}  // namespace mlbcc::sink
