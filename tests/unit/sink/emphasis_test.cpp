#include "sink/emphasis.h"

#include <gtest/gtest.h>

namespace mlbcc::sink {
namespace {

TEST(Emphasis, TitlesHeadingsAndLosses) {
    EXPECT_EQ(emphasized("=== TRACE SUMMARY ===  1.50 s, 12 480 events, 1 017 lost (interrupted)\n"
                         "\n"
                         "USERSPACE (libcuda.so.1)\n"
                         "  launches   42\n"
                         "\n"
                         "       where the time went\n"
                         "GET /a cpu 100 %\n"),
              "\033[1m=== TRACE SUMMARY ===\033[0m  1.50 s, 12 480 events, \033[1;31m1 017 "
              "lost\033[0m (interrupted)\n"
              "\n"
              "\033[1mUSERSPACE (libcuda.so.1)\033[0m\n"
              "  launches   42\n"
              "\n"
              "\033[1m       where the time went\033[0m\n"
              "GET /a cpu 100 %\n");
}

TEST(Emphasis, NothingElse) {
    for (const char* text : {"", "\n", "a\nb", "\n\n\na\n\n"}) {
        std::string shown = emphasized(text);
        for (std::string_view code : {"\033[1m", "\033[0m"}) {
            for (size_t at; (at = shown.find(code)) != shown.npos;) shown.erase(at, code.size());
        }
        EXPECT_EQ(shown, text);
    }
    EXPECT_EQ(emphasized("=== CALLS ===  1.00 s, 3 of 3 calls, 0 lost\n"),
              "\033[1m=== CALLS ===\033[0m  1.00 s, 3 of 3 calls, 0 lost\n");
    EXPECT_EQ(emphasized("=== cut"), "\033[1m=== cut\033[0m");
    EXPECT_EQ(emphasized("=== A ===\n lost"), "\033[1m=== A ===\033[0m\n lost");
}

}  // namespace
}  // namespace mlbcc::sink
