#include "base/process_maps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/read_file.h"
#include "base/unique_fd.h"

namespace mlbcc {
namespace {

TEST(ParseMaps, ReadsEachField) {
    const auto maps =
        parse_maps("55d0a000-55d0b000 r--p 00000000 fe:01 5150       /usr/bin/python3.11\n"
                   "7f0e1000-7f0e2000 r-xp 00001000 08:11 77   /opt/a dir/libx.so.1 (deleted)\n"
                   "7ffff000-ffffffffff600000 rw-p 00000000 00:00 0          [stack]\n"
                   "7f0e3000-7f0e4000 rw-p 00000000 00:00 0 \n"
                   "7f0e5000-7f0e6000 --xs 0001f000 00:05 9 /tmp/two\\012lines\n");
    ASSERT_EQ(maps.size(), 5u);
    EXPECT_EQ(maps[0].start, 0x55d0a000u);
    EXPECT_EQ(maps[0].end, 0x55d0b000u);
    EXPECT_EQ(maps[0].device_major, 0xfeu);
    EXPECT_EQ(maps[0].device_minor, 1u);
    EXPECT_EQ(maps[0].inode, 5150u);
    EXPECT_EQ(maps[0].path, "/usr/bin/python3.11");
    EXPECT_FALSE(maps[0].executable);
    EXPECT_EQ(maps[1].path, "/opt/a dir/libx.so.1");
    EXPECT_EQ(maps[1].offset, 0x1000u);
    EXPECT_TRUE(maps[1].executable);
    EXPECT_TRUE(maps[1].deleted);
    EXPECT_EQ(maps[2].path, "[stack]");
    EXPECT_EQ(maps[2].end, 0xffffffffff600000u);
    EXPECT_EQ(maps[3].path, "");
    EXPECT_EQ(maps[4].path, "/tmp/two\nlines");
    EXPECT_TRUE(maps[4].executable);
}

TEST(ParseMaps, SkipsWhatIsNoMapping) {
    EXPECT_EQ(parse_maps("").size(), 0u);
    EXPECT_EQ(parse_maps("\n\nhello\n1-2 r-xp 0 0:0\nz-2 r-xp 0 0:0 0\n1-2 r 0 0:0 0 x").size(),
              0u);
    EXPECT_EQ(parse_maps("1-2 r-xp 0 0:0 0").size(), 1u);
}

Mapping own_mapping(const void* at) {
    const Result<std::string> text = read_file("/proc/self/maps", 1 << 20);
    const auto address = reinterpret_cast<uintptr_t>(at);
    for (const Mapping& mapping : parse_maps(text ? *text : "")) {
        if (mapping.start <= address && address < mapping.end) return mapping;
    }
    return {};
}

TEST(IsMappedFrom, KnowsAFileByItsInodeAndDevice) {
    const UniqueFd program(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const UniqueFd memory(::memfd_create("other", MFD_CLOEXEC));
    Mapping mapping = own_mapping(reinterpret_cast<const void*>(&own_mapping));
    ASSERT_TRUE(mapping.is_file());
    EXPECT_TRUE(is_mapped_from(program.get(), mapping));
    EXPECT_FALSE(is_mapped_from(memory.get(), mapping));
    ++mapping.device_minor;
    EXPECT_FALSE(is_mapped_from(program.get(), mapping)) << "of another device, with that inode";
    --mapping.device_minor;
    ++mapping.inode;
    EXPECT_FALSE(is_mapped_from(program.get(), mapping));
    EXPECT_FALSE(is_mapped_from(-1, mapping));
}

}  // namespace
}  // namespace mlbcc
