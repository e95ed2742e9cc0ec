// Whose files a tracer believes that has more rights than its caller.
#include "files/trusted_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "files/scratch.h"

namespace mlbcc::files {
namespace {

constexpr const char* kWhy = ", and mlbcc runs with more rights than its caller";

class Trusted : public testing::Test {
protected:
    void SetUp() override { ::chmod(scratch_.path().c_str(), 0755); }
    std::string file(const std::string& name, mode_t mode = 0644) {
        const std::string path = scratch_.write(name, "text of " + name);
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }
    std::string folder(const std::string& name, mode_t mode) {
        std::filesystem::create_directories(scratch_.path(name));
        EXPECT_EQ(::chmod(scratch_.path(name).c_str(), mode), 0);
        return scratch_.path(name);
    }
    std::string refusal(const std::string& path) {
        const auto done = trusted_.read(path, 100);
        return done ? "admitted" : done.error().message();
    }
    void give_away(const std::string& path) {
        if (::lchown(path.c_str(), 4711, 0) != 0)
            GTEST_SKIP() << "not root: cannot give files away";
    }

    Scratch scratch_;
    TrustedFiles trusted_{::getuid()};
};

TEST_F(Trusted, FilesOfOnesOwn) {
    const auto text = trusted_.read(file("my.rules"), 100);
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(*text, "text of my.rules");
}

TEST_F(Trusted, EverythingWithoutMoreRightsThanTheCaller) {
    EXPECT_TRUE(TrustedFiles(std::nullopt).read(file("my.rules", 0666), 100));
}

TEST_F(Trusted, NotWhatEverybodyMayWriteTo) {
    const std::string path = file("my.rules", 0646);
    EXPECT_EQ(refusal(path), "everybody may write to " + path + kWhy);
    EXPECT_EQ(trusted_.admit(path).error().help, "chmod go-w " + path);
    ::chmod(path.c_str(), 0644);
    EXPECT_EQ(refusal(path), "admitted");
}

TEST_F(Trusted, NotInAFolderThatEverybodyMayWriteTo) {
    const std::string where = folder("shared", 0777);
    const std::string path = file("shared/deep/my.rules");
    EXPECT_EQ(refusal(path), "everybody may write to " + where + kWhy);
    EXPECT_EQ(trusted_.admit(path).error().help, "chmod go-w " + where);
    folder("shared", 01777);  // as /tmp is
    EXPECT_EQ(refusal(path), "admitted");
}

TEST_F(Trusted, NotByALinkThatOthersMayReplace) {
    file("my.rules");
    const std::string where = folder("shared", 0777);
    scratch_.link(scratch_.path("my.rules"), "shared/link.rules");
    EXPECT_EQ(refusal(scratch_.path("shared/link.rules")),
              "everybody may write to " + where + kWhy);
    folder("safe", 0755);
    scratch_.link("../my.rules", "safe/link.rules");
    EXPECT_EQ(refusal(scratch_.path("safe/link.rules")), "admitted");
}

TEST_F(Trusted, NotWhereALinkLeadsThroughAFolderOfOthers) {
    const std::string where = folder("shared", 0777);
    file("shared/my.rules");
    scratch_.link("shared/my.rules", "link.rules");
    EXPECT_EQ(refusal(scratch_.path("link.rules")), "everybody may write to " + where + kWhy);
    scratch_.link("loop", "loop");
    EXPECT_EQ(refusal(scratch_.path("loop")), scratch_.path("loop") + " leads nowhere");
}

TEST_F(Trusted, NotWhatBelongsToSomebodyElse) {
    const std::string path = file("my.rules");
    give_away(path);
    if (IsSkipped()) return;
    EXPECT_EQ(refusal(path), path + " belongs to user 4711" + kWhy);
    EXPECT_EQ(trusted_.admit(path).error().help,
              "chown root " + path + ", or use a copy of your own");
    const std::string where = folder("theirs", 0755);
    file("theirs/my.rules");
    give_away(where);
    EXPECT_EQ(refusal(where + "/my.rules"), where + " belongs to user 4711" + kWhy);
}

TEST_F(Trusted, NotWhatAGroupOfOthersMayWriteTo) {
    const std::string path = file("my.rules", 0664);
    if (::chown(path.c_str(), static_cast<uid_t>(-1), 65533) != 0)
        GTEST_SKIP() << "not root: cannot give files to a group";
    EXPECT_EQ(refusal(path), "the group 65533 may write to " + path + kWhy);
}

TEST_F(Trusted, ATreeOfFiles) {
    file("tree/a.h");
    file("tree/deep/b.h");
    EXPECT_TRUE(trusted_.admit_tree(scratch_.path("tree")));
    const std::string path = file("tree/deep/c.h", 0666);
    const auto done = trusted_.admit_tree(scratch_.path("tree"));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message(), "everybody may write to " + path + kWhy);
}

TEST_F(Trusted, APipeOfOnesOwn) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "text", 4), 4);
    ::close(ends[1]);
    const auto text = trusted_.read("/dev/fd/" + std::to_string(ends[0]), 100);
    ::close(ends[0]);
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(*text, "text");
}

TEST_F(Trusted, WhatIsNotThere) {
    EXPECT_EQ(refusal(scratch_.path("none")),
              "cannot stat " + scratch_.path("none") + ": No such file or directory");
}

}  // namespace
}  // namespace mlbcc::files
