#include "symbols/held_roots.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace mlbcc::symbols {
namespace {

namespace fs = std::filesystem;

// A /proc of our own: processes 70 and 71 are in the root "there", 72 is where the tracer is.
class Roots : public ::testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/held-XXXXXX";
        folder = ::mkdtemp(name);
        fs::create_directories(folder / "here");
        fs::create_directories(folder / "there/lib");
        std::ofstream(folder / "there/lib/x.so") << "code";
        std::ofstream(folder / "namespace") << "";
        std::ofstream(folder / "namespace of others") << "";
        process("self", "here", "namespace");
        process("70", "there", "namespace of others");
        process("71", "there", "namespace of others");
        process("72", "here", "namespace");
        roots.emplace(folder);
        struct stat status {};
        ASSERT_EQ(::stat((folder / "there/lib/x.so").c_str(), &status), 0);
        mapping.inode = status.st_ino;
        mapping.device_major = major(status.st_dev);
        mapping.device_minor = minor(status.st_dev);
        mapping.path = "/lib/x.so";
    }
    void TearDown() override { fs::remove_all(folder); }
    void process(const char* pid, const char* root, const char* mounts) const {
        fs::create_directories(folder / pid / "ns");
        fs::create_symlink(folder / mounts, folder / pid / "ns/mnt");
        fs::create_directory_symlink(folder / root, folder / pid / "root");
    }
    bool is_found() const { return static_cast<bool>(roots->open(mapping)); }

    fs::path folder;
    std::optional<HeldRoots> roots;
    Mapping mapping;
};

TEST_F(Roots, AFileIsFoundWhenItsProcessIsGone) {
    EXPECT_FALSE(is_found());
    roots->see(70, 100);
    fs::remove_all(folder / "70");
    EXPECT_TRUE(is_found());
    roots->ended(70, 200);
    EXPECT_FALSE(is_found());
}

TEST_F(Roots, AnotherFileOfItsNameIsNot) {
    roots->see(70, 100);
    ++mapping.inode;
    EXPECT_FALSE(is_found());
}

TEST_F(Roots, NoLinkLeadsOut) {
    fs::create_symlink(folder / "there/lib/x.so", folder / "there/lib/y.so");
    mapping.path = "/lib/y.so";
    roots->see(70, 100);
    EXPECT_FALSE(is_found());
    fs::remove(folder / "there/lib/y.so");
    fs::create_symlink("/lib/x.so", folder / "there/lib/y.so");
    EXPECT_TRUE(is_found());
}

TEST_F(Roots, TheLastOfItsProcessesLetsItGo) {
    roots->see(70, 100);
    roots->see(71, 110);
    roots->forked(70, 80, 120);
    roots->ended(70, 130);
    roots->ended(71, 130);
    EXPECT_TRUE(is_found());
    roots->ended(80, 140);
    EXPECT_FALSE(is_found());
}

TEST_F(Roots, WhoGoesElsewhereLeavesIt) {
    roots->see(70, 100);
    fs::remove_all(folder / "70");
    process("70", "here", "namespace");
    roots->see(70, 110);
    EXPECT_FALSE(is_found());
    roots->see(71, 100);
    roots->forked(72, 71, 120);  // the number is another's now
    EXPECT_FALSE(is_found());
}

TEST_F(Roots, AnEndThatIsToldLateIsOfAnEarlierProcess) {
    roots->see(70, 200);
    roots->ended(70, 100);
    EXPECT_TRUE(is_found());
}

TEST_F(Roots, WhatIsGoneWhenItIsSeenIsNotHeld) {
    roots->see(99, 100);
    roots->ended(99, 110);
    EXPECT_FALSE(is_found());
}

}  // namespace
}  // namespace mlbcc::symbols
