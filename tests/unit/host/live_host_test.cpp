#include "host/live_host.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files/scratch.h"
#include "process/waiting.h"

namespace mlbcc::host {
namespace {

using Paths = std::vector<std::string>;
using testing::Contains;
using testing::Each;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kText = "int probe_me(int x) { return x + 1; }";
constexpr const char* kNamed = "-shared -fPIC -Wl,-soname,libprobe.so.1";

LiveHost host_with(const std::string& library_path, const std::string& path = "/usr/bin") {
    return LiveHost({process::view_of_command(
        {"A=1", "LD_LIBRARY_PATH=" + library_path, "PATH=" + path}, "/tmp")});
}

LiveHost host_of(int pid) {
    auto view = process::view_of_process(pid);
    EXPECT_TRUE(view);
    return LiveHost({std::move(view).value()});
}

TEST(FindLibrary, ASonameIsFoundInTheLoadersCache) {
    LiveHost host({});
    const auto found = host.find_library("libc.so.6", ".");
    ASSERT_EQ(found.paths.size(), 1u);
    EXPECT_THAT(found.paths[0], EndsWith("/libc.so.6"));
    const auto symbols = host.symbols(found.paths[0]);
    ASSERT_TRUE(symbols);
    EXPECT_EQ(symbols->machine, host.architecture());
    EXPECT_GT(symbols->functions.size(), 2000u);
    EXPECT_THAT(symbols->ifuncs, Contains("memcpy"));
}

TEST(FindLibrary, APathMayBeginWithAVariableOfTheProgram) {
    files::Scratch scratch;
    const std::string program = scratch.write("env/bin/program", "#!/bin/sh\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    std::filesystem::create_directories(scratch.path("env/lib"));
    const std::string library = scratch.compile("env/lib/libprobe.so", kText, kNamed);
    const std::vector<std::string> environment{"PATH=/nowhere:" + scratch.path() + "/env/bin",
                                               "ENV=" + scratch.path() + "/env"};
    LiveHost host({process::view_of_command(environment, "/tmp", "program")});
    const Paths found{library};
    EXPECT_EQ(host.find_library("$COMMAND_DIR/../lib/libprobe.so", ".").paths, found);
    EXPECT_EQ(host.find_library("$COMMAND_DIR/../l*/libprobe.so", ".").paths, found);
    EXPECT_EQ(host.find_library("$ENV/lib/libprobe.so", ".").paths, found);
    const auto missing = host.find_library("$NONE/lib/libprobe.so", ".");
    EXPECT_THAT(missing.paths, IsEmpty());
    EXPECT_THAT(missing.searched,
                testing::ElementsAre("$NONE/lib/libprobe.so (there is no such variable)"));
    EXPECT_EQ(process::view_of_command({}, "/home/me", "./app").program_folder, "/home/me/.");
    EXPECT_EQ(process::view_of_command({}, "/home/me", "/opt/app").program_folder, "/opt");
}

// The loader itself says where it finds a library and where in the file a function is.
TEST(FindLibrary, AgreesWithTheLoader) {
    LiveHost host({});
    for (const char* soname : {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libelf.so.1"}) {
        void* library = dlopen(soname, RTLD_NOW);
        if (library == nullptr) continue;
        const char* function = soname == std::string("libc.so.6")     ? "qsort"
                               : soname == std::string("libm.so.6")   ? "cbrt"
                               : soname == std::string("libelf.so.1") ? "elf_begin"
                                                                      : "__cxa_throw";
        Dl_info info;
        void* address = dlsym(library, function);
        ASSERT_NE(dladdr(address, &info), 0) << soname;
        const Paths paths = host.find_library(soname, ".").paths;
        EXPECT_EQ(paths, Paths{std::filesystem::canonical(info.dli_fname)});
        const auto mapped = process::read_maps(getpid());
        ASSERT_TRUE(mapped);
        uint64_t offset = 0;
        for (const Mapping& mapping : *mapped) {
            const auto at = reinterpret_cast<uint64_t>(address);
            if (mapping.start <= at && at < mapping.end)
                offset = at - mapping.start + mapping.offset;
        }
        const auto symbols = host.symbols(paths[0]);
        const auto& all = symbols->functions;
        EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                                [&](const target::Symbol& symbol) {
                                    return symbol.name == function && symbol.offset == offset;
                                }))
            << soname << " " << function;
    }
}

TEST(FindLibrary, LibraryPathOfTheCommandComesFirst) {
    const files::Scratch scratch;
    scratch.compile("libc.so.6", kText);
    LiveHost host = host_with("/nonexistent:" + scratch.path());
    const auto found = host.find_library("libc.so.6", ".");
    EXPECT_EQ(found.paths, Paths{scratch.path("libc.so.6")});
    EXPECT_EQ(found.searched,
              (Paths{"/nonexistent (LD_LIBRARY_PATH)", scratch.path() + " (LD_LIBRARY_PATH)"}));
}

TEST(FindLibrary, ARelativeLibraryPathStartsAtTheCommandsFolder) {
    const files::Scratch scratch;
    scratch.compile("libprobe.so.1", kText);
    const std::string folder = scratch.path().substr(scratch.path().rfind('/') + 1);
    const std::string parent = scratch.path().substr(0, scratch.path().rfind('/'));
    LiveHost named({process::view_of_command({"LD_LIBRARY_PATH=" + folder}, parent)});
    EXPECT_EQ(named.find_library("libprobe.so.1", ".").paths, Paths{scratch.path("libprobe.so.1")});
    LiveHost empty({process::view_of_command({"LD_LIBRARY_PATH=/a:"}, scratch.path())});
    EXPECT_EQ(empty.find_library("libprobe.so.1", ".").paths, Paths{scratch.path("libprobe.so.1")});
    LiveHost none({process::view_of_command({"LD_LIBRARY_PATH="}, scratch.path())});
    EXPECT_THAT(none.find_library("libprobe.so.1", ".").paths, IsEmpty());
}

TEST(FindLibrary, ALibraryForAnotherMachineIsPassedOver) {
    const files::Scratch scratch;
    scratch.compile("ours/libprobe.so", kText);
    std::string other = scratch.read("ours/libprobe.so");
    other[18] = 40;  // EM_ARM
    scratch.write("arm/libprobe.so", other);
    scratch.write("text/libprobe.so", "INPUT(-lc)");
    LiveHost both =
        host_with(scratch.path("text") + ":" + scratch.path("arm") + ":" + scratch.path("ours"));
    EXPECT_EQ(both.find_library("libprobe.so", ".").paths, Paths{scratch.path("ours/libprobe.so")});
    LiveHost arm = host_with(scratch.path("arm"));
    EXPECT_THAT(arm.find_library("libprobe.so", ".").searched,
                Contains(scratch.path("arm/libprobe.so") + " (built for arm)"));
    LiveHost text = host_with(scratch.path("text"));
    EXPECT_THAT(text.find_library("libprobe.so", ".").searched,
                Contains(scratch.path("text/libprobe.so") + " (not an ELF program or library)"));
}

TEST(FindLibrary, NamesEveryPlaceWhereALibraryIsNot) {
    LiveHost host = host_with("/opt/nothing");
    const auto found = host.find_library("libnone-such.so.3", ".");
    EXPECT_THAT(found.paths, IsEmpty());
    EXPECT_THAT(found.searched, Contains("/opt/nothing (LD_LIBRARY_PATH)"));
    EXPECT_THAT(found.searched, Contains("/etc/ld.so.cache"));
    EXPECT_THAT(found.searched, Contains("/lib/" + host.architecture() + "-linux-gnu"));
}

TEST(FindLibrary, KnowsSimilarNames) {
    LiveHost host({});
    EXPECT_THAT(host.find_library("libstdc++.so", ".").similar, Contains("libstdc++.so.6"));
    EXPECT_THAT(host.find_library("libstdc++.so.77", ".").similar, Contains("libstdc++.so.6"));
    EXPECT_THAT(host.find_library("stdc++", ".").similar, Contains("libstdc++.so.6"));
    EXPECT_THAT(host.find_library("libsdtc++.so.6", ".").similar, Contains("libstdc++.so.6"));
    EXPECT_THAT(host.find_library("libc.so.6", ".").similar, IsEmpty());
    // libnuma.so.1 differs in two letters, which of `cuda` is half.
    EXPECT_THAT(host.find_library("libcuda.so.987", ".").similar, Each(StartsWith("libcuda")));
}

TEST(FindLibrary, APathIsRelativeToTheRuleFilesFolder) {
    const files::Scratch scratch;
    scratch.compile("build/libprobe.so", kText);
    LiveHost host({});
    const Paths expected{scratch.path("build/libprobe.so")};
    EXPECT_EQ(host.find_library("./libprobe.so", scratch.path("build")).paths, expected);
    EXPECT_EQ(host.find_library("build/libprobe.so", scratch.path()).paths, expected);
    EXPECT_EQ(host.find_library("../build/libprobe.so", scratch.path("build")).paths, expected);
    EXPECT_EQ(host.find_library(scratch.path("build/libprobe.so"), "/").paths, expected);
    EXPECT_EQ(host.find_library("./libprobe.so", scratch.path()).searched,
              Paths{scratch.path("libprobe.so")});
}

TEST(FindLibrary, AFileIsGivenByOnePathHoweverItIsNamed) {
    const files::Scratch scratch;
    scratch.compile("libprobe.so.1.2", kText);
    scratch.link("libprobe.so.1.2", "libprobe.so.1");
    std::filesystem::create_hard_link(scratch.path("libprobe.so.1.2"), scratch.path("hard.so"));
    LiveHost host({});
    const Paths expected{scratch.path("libprobe.so.1.2")};
    EXPECT_EQ(host.find_library("./libprobe.so.1", scratch.path()).paths, expected);
    EXPECT_EQ(host.find_library("./hard.so", scratch.path()).paths, expected);
    EXPECT_EQ(host.find_library("./*.so*", scratch.path()).paths, expected);
}

TEST(FindLibrary, AGlobFindsAllElfFiles) {
    const files::Scratch scratch;
    scratch.compile("a/libprobe.so", kText);
    scratch.compile("b/libprobe.so", kText);
    scratch.write("c/libprobe.so", "text");
    LiveHost host = host_with(scratch.path("a") + ":" + scratch.path("b"));
    const Paths both{scratch.path("a/libprobe.so"), scratch.path("b/libprobe.so")};
    EXPECT_EQ(host.find_library("./*/libprobe*", scratch.path()).paths, both);
    EXPECT_EQ(host.find_library("libprob?.so", ".").paths, both);
}

TEST(FindLibrary, AProgramIsFoundInPath) {
    const files::Scratch scratch;
    scratch.compile("bin/tool", "int main(void) { return 0; }", "");
    scratch.write("scripts/tool", "#!/bin/sh\n");
    std::filesystem::permissions(scratch.path("scripts/tool"), std::filesystem::perms::owner_all);
    scratch.write("data/tool", "not executable");
    LiveHost host = host_with("", scratch.path("data") + ":" + scratch.path("bin"));
    EXPECT_EQ(host.find_library("tool", ".").paths, Paths{scratch.path("bin/tool")});

    const std::string path = scratch.path("scripts") + ":" + scratch.path("bin");
    LiveHost script = host_with("", path);
    const auto found = script.find_library("tool", ".");
    EXPECT_THAT(found.paths, IsEmpty());
    EXPECT_THAT(found.searched, Contains("programs in PATH (" + path + ")"));
    EXPECT_THAT(found.searched,
                Contains(scratch.path("scripts/tool") + " (not an ELF program or library)"));
    EXPECT_THAT(host.find_library("tool.so", ".").paths, IsEmpty());
}

TEST(FindLibrary, WhatAProcessHasLoadedComesFirst) {
    const files::Scratch scratch;
    scratch.compile("libprobe-real.so.1.2", kText, kNamed);
    const process::Waiting process(
        [&] { return dlopen(scratch.path("libprobe-real.so.1.2").c_str(), RTLD_NOW) != nullptr; });
    ASSERT_TRUE(process.started());
    LiveHost host = host_of(process.pid());
    const Paths expected{scratch.path("libprobe-real.so.1.2")};
    EXPECT_EQ(host.find_library("libprobe.so.1", ".").paths, expected) << "by DT_SONAME";
    EXPECT_EQ(host.find_library("libprobe-real.so.1.2", ".").paths, expected) << "by file name";
    EXPECT_EQ(host.find_library("libprobe*", ".").paths, expected);
    EXPECT_THAT(host.find_library("libprobe.so.2", ".").searched,
                Contains(fmt::format("the files that process {} has mapped", process.pid())));
}

TEST(FindLibrary, ALoadedLibraryThatWasDeletedIsStillFound) {
    const files::Scratch scratch;
    scratch.compile("libprobe.so.1", kText, kNamed);
    const process::Waiting process(
        [&] { return dlopen(scratch.path("libprobe.so.1").c_str(), RTLD_NOW) != nullptr; });
    ASSERT_TRUE(process.started());
    std::filesystem::remove(scratch.path("libprobe.so.1"));
    scratch.write("libprobe.so.1", "another file by the same name");
    if (geteuid() != 0) GTEST_SKIP() << "only root can look at /proc/PID/map_files";
    LiveHost host = host_of(process.pid());
    const auto found = host.find_library("libprobe.so.1", ".");
    ASSERT_EQ(found.paths.size(), 1u);
    EXPECT_TRUE(found.paths[0].starts_with(fmt::format("/proc/{}/map_files/", process.pid())));
    const auto symbols = host.symbols(found.paths[0]);
    ASSERT_TRUE(symbols);
    EXPECT_TRUE(std::any_of(symbols->functions.begin(), symbols->functions.end(),
                            [](const auto& symbol) { return symbol.name == "probe_me"; }));
}

TEST(FindLibrary, AProcessBelowAnotherRootHasItsOwnFiles) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can change the root";
    const files::Scratch scratch;
    scratch.compile("root/lib/libprobe.so.1", kText, kNamed);
    scratch.compile("root/opt/libopt.so", kText);
    const process::Waiting process([&] { return chroot(scratch.path("root").c_str()) == 0; });
    ASSERT_TRUE(process.started());
    LiveHost host = host_of(process.pid());
    const std::string root = fmt::format("/proc/{}/root", process.pid());
    EXPECT_EQ(host.find_library("libprobe.so.1", ".").paths, Paths{root + "/lib/libprobe.so.1"});
    EXPECT_EQ(host.find_library("/opt/libopt.so", ".").paths, Paths{root + "/opt/libopt.so"});
    EXPECT_EQ(host.find_library("/opt/lib*", ".").paths, Paths{root + "/opt/libopt.so"});
    EXPECT_EQ(host.find_library("./libopt.so", scratch.path("root/opt")).paths,
              Paths{root + "/opt/libopt.so"})
        << "the same file, by the path that is known";
    EXPECT_THAT(host.find_library("libm.so.77", ".").searched, Contains(root + "/etc/ld.so.cache"));
}

TEST(FindLibrary, WhatAnyOfSeveralProgramsFindsCounts) {
    const files::Scratch scratch;
    scratch.compile("a/libprobe.so", kText);
    scratch.compile("b/libprobe.so", kText);
    LiveHost host({process::view_of_command({"LD_LIBRARY_PATH=" + scratch.path("a")}, "/"),
                   process::view_of_command({"LD_LIBRARY_PATH=" + scratch.path("b")}, "/"),
                   process::view_of_command({"LD_LIBRARY_PATH=" + scratch.path("a")}, "/")});
    EXPECT_EQ(host.find_library("libprobe.so", ".").paths,
              (Paths{scratch.path("a/libprobe.so"), scratch.path("b/libprobe.so")}));
}

TEST(ViewOfProcess, SaysThatThereIsNoProcess) {
    const auto view = process::view_of_process(0x3fffffff);
    ASSERT_FALSE(view);
    EXPECT_EQ(view.error().message(), "there is no process 1073741823");
}

TEST(LiveHost, ReadsBytesOfAFile) {
    const files::Scratch scratch;
    const std::string path = scratch.write("file", "0123456789");
    LiveHost host({});
    const auto text = [&](uint64_t offset, size_t size) {
        const auto bytes = host.read(path, offset, size);
        if (!bytes) return bytes.error().message();
        return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    };
    EXPECT_EQ(text(2, 3), "234");
    EXPECT_EQ(text(8, 100), "89");
    EXPECT_EQ(text(0, SIZE_MAX), "0123456789");
    EXPECT_EQ(text(10, 1), "");
    EXPECT_EQ(text(UINT64_MAX, 1), "");
    const auto none = host.read(scratch.path("none"), 0, 1);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message(),
              "cannot open " + scratch.path("none") + ": No such file or directory");
}

TEST(LiveHost, ReadsAFileOnce) {
    const files::Scratch scratch;
    const std::string path = scratch.compile("libprobe.so", kText);
    LiveHost host({});
    const size_t count = host.symbols(path)->functions.size();
    std::filesystem::remove(path);
    const auto again = host.symbols(path);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->functions.size(), count);
}

}  // namespace
}  // namespace mlbcc::host
