#include "files/disk_space.h"

#include <gtest/gtest.h>

#include "files/scratch.h"

namespace mlbcc::files {
namespace {

TEST(DiskSpace, OfAFolderThatIsYetToBeMade) {
    Scratch scratch;
    const auto space = disk_space(scratch.path("a/b"));
    ASSERT_TRUE(space);
    EXPECT_EQ(space->folder, scratch.path());
    EXPECT_TRUE(space->writable);
    EXPECT_GT(space->free_bytes, 0u);
}

}  // namespace
}  // namespace mlbcc::files
