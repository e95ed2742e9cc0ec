// The folder of --keep: what is in it, and what it leaves alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "session/keep.h"
#include "sink/golden.h"

namespace mlbcc::session {
namespace {

namespace fs = std::filesystem;

class KeepFolderTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "mlbcc-keep-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root_ = name;
    }
    void TearDown() override { fs::remove_all(root_); }
    std::string folder() const { return root_ / "kept"; }
    std::string text(const std::string& name) const {
        return test::read_all(folder() + "/" + name);
    }
    void put(const std::string& name, const std::string& content) const {
        std::ofstream(root_ / "kept" / name) << content;
    }
    fs::path root_;
};

TEST_F(KeepFolderTest, ListsItsFiles) {
    auto kept = KeepFolder::open(folder());
    ASSERT_TRUE(kept) << kept.error().message();
    kept->add("plan.txt", "the plan", "a\nb\n");
    kept->add("rules/0-my.rules", "rules", "on c:x { count }\n");
    kept->finish();
    EXPECT_EQ(text("plan.txt"), "a\nb\n");
    EXPECT_EQ(text("rules/0-my.rules"), "on c:x { count }\n");
    EXPECT_EQ(text("README.txt"), "Kept by mlbcc for a bug report:\n"
                                  "  plan.txt          the plan\n"
                                  "  rules/0-my.rules  rules\n"
                                  "Read them before you pass them on: rules, the command "
                                  "and paths are in them.\n"
                                  "Of the environment there are the names only.\n");
}

TEST_F(KeepFolderTest, WhatItHeldBeforeGoes) {
    for (const char* name : {"old.txt", "new.txt"}) {
        auto kept = KeepFolder::open(folder());
        ASSERT_TRUE(kept) << kept.error().message();
        kept->add(name, "it", name);
        kept->finish();
    }
    EXPECT_FALSE(fs::exists(folder() + "/old.txt"));
    EXPECT_EQ(text("new.txt"), "new.txt");
}

TEST_F(KeepFolderTest, WhatOthersPutThereStays) {
    {
        auto kept = KeepFolder::open(folder());
        ASSERT_TRUE(kept);
        kept->add("plan.txt", "the plan", "a");
        kept->finish();
    }
    put("notes.txt", "mine");
    auto again = KeepFolder::open(folder());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().what, "--keep " + folder() +
                                      ": the folder holds notes.txt, which mlbcc has not put "
                                      "there");
    EXPECT_EQ(again.error().help, "name a folder that is empty, or not there yet");
    EXPECT_EQ(text("plan.txt"), "a");
}

TEST_F(KeepFolderTest, NoLinkLeadsOut) {
    fs::create_directory(root_ / "elsewhere");
    fs::create_directory(folder());
    auto kept = KeepFolder::open(folder());
    ASSERT_TRUE(kept);
    fs::create_directory_symlink(root_ / "elsewhere", root_ / "kept" / "rules");
    testing::internal::CaptureStderr();
    kept->add("rules/0-my.rules", "rules", "text");
    EXPECT_NE(testing::internal::GetCapturedStderr().find("cannot open the folder " + folder() +
                                                          "/rules: "),
              std::string::npos);
    EXPECT_TRUE(fs::is_empty(root_ / "elsewhere"));
}

}  // namespace
}  // namespace mlbcc::session
