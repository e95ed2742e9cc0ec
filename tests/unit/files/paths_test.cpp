#include "files/paths.h"

#include <gtest/gtest.h>

#include "files/scratch.h"

namespace mlbcc::files {
namespace {

using Paths = std::vector<std::string>;

TEST(JoinPath, TakesAnAbsoluteNameAsItIs) {
    EXPECT_EQ(join_path("/a", "b"), "/a/b");
    EXPECT_EQ(join_path("/a/", "b"), "/a/b");
    EXPECT_EQ(join_path("/a", "/b"), "/b");
    EXPECT_EQ(join_path("", "b"), "b");
}

TEST(CanonicalPath, FollowsLinksAndDots) {
    const Scratch scratch;
    scratch.write("lib/libx.so.1.2", "x");
    scratch.link("libx.so.1.2", "lib/libx.so.1");
    scratch.link("../lib/libx.so.1", "opt/libx.so");
    const std::string real = scratch.path("lib/libx.so.1.2");
    EXPECT_EQ(canonical_path("", scratch.path("opt/libx.so")), real);
    EXPECT_EQ(canonical_path("", scratch.path("opt/../lib/.//libx.so.1")), real);
    EXPECT_EQ(canonical_path("", "/../.."), "/");
}

TEST(CanonicalPath, StaysBelowTheRoot) {
    const Scratch scratch;
    scratch.write("root/usr/lib/libx.so", "x");
    scratch.link("/usr/lib", "root/lib");
    scratch.link("../../../../usr/lib/libx.so", "root/out");
    const std::string root = scratch.path("root");
    EXPECT_EQ(canonical_path(root, "/lib/libx.so"), root + "/usr/lib/libx.so");
    EXPECT_EQ(canonical_path(root, "/out"), root + "/usr/lib/libx.so");
    EXPECT_EQ(canonical_path(root, "/etc/passwd"), std::nullopt);
}

TEST(CanonicalPath, GivesUpOnCirclesAndMissingFiles) {
    const Scratch scratch;
    scratch.link("b", "a");
    scratch.link("a", "b");
    EXPECT_EQ(canonical_path("", scratch.path("a")), std::nullopt);
    EXPECT_EQ(canonical_path("", scratch.path("none")), std::nullopt);
}

TEST(ExpandGlob, MatchesEachComponent) {
    const Scratch scratch;
    for (const char* name : {"a/lib/x.so", "b/lib/x.so", "b/lib/y.so", "c/x.so", "b/lib/.z.so"}) {
        scratch.write(name, "x");
    }
    EXPECT_EQ(expand_glob("", scratch.path("*/lib/*.so")),
              (Paths{scratch.path("a/lib/x.so"), scratch.path("b/lib/x.so"),
                     scratch.path("b/lib/y.so")}));
    EXPECT_EQ(expand_glob("", scratch.path("?/lib/.*.so")), Paths{scratch.path("b/lib/.z.so")});
    EXPECT_EQ(expand_glob("", scratch.path("c/x.so")), Paths{scratch.path("c/x.so")});
    EXPECT_EQ(expand_glob("", scratch.path("[!ab]/lib/*")), Paths{});
    EXPECT_EQ(expand_glob(scratch.path("b"), "/lib/*y*"), Paths{scratch.path("b/lib/y.so")});
}

TEST(FileId, IsEqualForLinksToOneFile) {
    const Scratch scratch;
    scratch.write("a", "x");
    scratch.link("a", "b");
    std::filesystem::create_hard_link(scratch.path("a"), scratch.path("c"));
    EXPECT_EQ(file_id(scratch.path("a")), file_id(scratch.path("b")));
    EXPECT_EQ(file_id(scratch.path("a")), file_id(scratch.path("c")));
    EXPECT_NE(file_id(scratch.path("a")), file_id(scratch.path()));
    EXPECT_EQ(file_id(scratch.path("d")), std::nullopt);
}

}  // namespace
}  // namespace mlbcc::files
