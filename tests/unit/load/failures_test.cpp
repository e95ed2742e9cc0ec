// What is said where the kernel refuses a program that mlbcc made.
#include "load/failures.h"

#include <gtest/gtest.h>

namespace mlbcc::load {
namespace {

TEST(Failures, OnAKernelThatWasTriedItIsADefect) {
    const Error error = defect_of_ours("cannot load on_call", {7, 3});
    EXPECT_EQ(error.what, "cannot load on_call: this is a defect of mlbcc, not of your rules");
    EXPECT_EQ(error.help,
              "please report it, with all that `--keep DIR` keeps when you run this again");
}

TEST(Failures, OnANewerKernelThatIsSaid) {
    const Error error = defect_of_ours("cannot load on_call", {8, 1});
    EXPECT_EQ(error.what,
              "cannot load on_call: Linux 8.1 is newer than any that mlbcc was tested on, "
              "up to 7.3");
    EXPECT_EQ(error.help, "try `--attach multi`; and please report it, with all that `--keep DIR` "
                          "keeps when you run this again");
}

}  // namespace
}  // namespace mlbcc::load
