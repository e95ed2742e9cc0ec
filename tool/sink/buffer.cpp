#include "sink/buffer.h"

#include <algorithm>
#include <utility>

namespace mlbcc::sink {

void Buffer::grow(size_t bytes) {
    size_t capacity = std::max(capacity_ * 2, size_ + bytes);
    std::unique_ptr<char[]> larger(new char[capacity]);
    std::memcpy(larger.get(), memory_.get(), size_);
    memory_ = std::move(larger);
    capacity_ = capacity;
}

}  // namespace mlbcc::sink
