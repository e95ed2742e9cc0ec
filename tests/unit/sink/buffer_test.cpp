#include "sink/buffer.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace mlbcc::sink {
namespace {

// Whatever was there is still there where the memory had to move for a number.
TEST(BufferTest, NumbersMakeItGrow) {
    for (size_t capacity = 1; capacity < 100; ++capacity) {
        Buffer out(capacity);
        std::string wanted;
        for (uint64_t i = 0; i < 20; ++i) {
            out.number(UINT64_MAX - i);
            out.signed_number(INT64_MIN + static_cast<int64_t>(i));
            out.hex(UINT64_MAX - i);
            out.fraction(i, 9);
            wanted += std::to_string(UINT64_MAX - i) +
                      std::to_string(INT64_MIN + static_cast<int64_t>(i));
            char hex[40];
            std::snprintf(hex, sizeof hex, "0x%lx%09lu", UINT64_MAX - i, i);
            wanted += hex;
        }
        EXPECT_EQ(out.view(), wanted) << capacity;
    }
}

}  // namespace
}  // namespace mlbcc::sink
