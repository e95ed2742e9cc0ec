#include "symbols/debug_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/read_file.h"
#include "symbols/elf_symbols.h"

namespace mlbcc::symbols {
namespace {

namespace fs = std::filesystem;

std::string build_id(const std::string& path) {
    elf_version(EV_CURRENT);
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ElfPtr elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
    return build_id_of(elf.get());
}

// A C program with a static function, stripped; its debug file is made by binutils.
class DebugFile : public testing::Test {
protected:
    DebugFile() : folder(fs::temp_directory_path() / fmt::format("mlbcc-debug-{}", getpid())) {
        fs::create_directories(folder / "bin/.debug");
        std::ofstream(folder / "app.c")
            << "__attribute__((noinline)) static int hidden(int a) { return a * 3; }\n"
               "int main(int argc, char** argv) { (void)argv; return hidden(argc); }\n";
    }
    ~DebugFile() override { fs::remove_all(folder); }

    void run(const std::string& command) const {
        std::string line = fmt::format("cd {} && {}", folder.string(), command);
        ASSERT_EQ(std::system(line.c_str()), 0) << line;
    }
    // bin/app without symbols, linked to app.debug, which lies in `folder`.
    void build(const std::string& flags) const {
        run("cc -O0 " + flags + " -o bin/app app.c");
        run("objcopy --only-keep-debug bin/app app.debug && strip bin/app && "
            "objcopy --add-gnu-debuglink=app.debug bin/app");
    }
    bool names_hidden(const DebugPlaces& places) const {
        UniqueFd fd(::open((folder / "bin/app").c_str(), O_RDONLY | O_CLOEXEC));
        auto symbols = ElfSymbols::read(fd.get(), places);
        for (uint64_t at = 0; symbols && at < 0x8000; ++at) {
            auto hit = symbols->find(at);
            if (hit && hit->name == "hidden") return true;
        }
        return false;
    }
    // As seen by a process whose root is `folder`.
    DebugPlaces places() const { return {"/debug", "/bin", {"/no/such/root", folder.string()}}; }
    void put_debug_file(const std::string& at) const {
        fs::create_directories((folder / at).parent_path());
        fs::copy_file(folder / "app.debug", folder / at, fs::copy_options::overwrite_existing);
    }
    fs::path folder;
};

constexpr const char* kLinked[] = {"bin/app.debug", "bin/.debug/app.debug", "debug/bin/app.debug"};

TEST_F(DebugFile, IsFoundByTheLink) {
    for (const char* flags : {"-Wl,--build-id=none", "-Wl,--build-id=sha1"}) {
        build(flags);
        EXPECT_FALSE(names_hidden(places()));
        for (const char* at : kLinked) {
            put_debug_file(at);
            EXPECT_TRUE(names_hidden(places())) << flags << ' ' << at;
            fs::remove(folder / at);
        }
    }
}

TEST_F(DebugFile, IsFoundByTheBuildId) {
    build("-Wl,--build-id=sha1");
    std::string id = build_id(folder / "bin/app");
    ASSERT_EQ(id.size(), 40u);
    put_debug_file("debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
    EXPECT_TRUE(names_hidden(places()));
    EXPECT_TRUE(names_hidden({folder / "debug", "", {""}}));
    EXPECT_FALSE(names_hidden({"", "", {folder.string()}}));
}

// What lies there is of another build: its names would be lies.
TEST_F(DebugFile, OfAnotherBuildIsNotTaken) {
    for (const char* flags : {"-Wl,--build-id=none", "-Wl,--build-id=sha1"}) {
        build(std::string(flags) + " -DOTHER -O1");
        fs::rename(folder / "app.debug", folder / "other.debug");
        build(flags);
        fs::copy_file(folder / "other.debug", folder / "bin/app.debug",
                      fs::copy_options::overwrite_existing);
        EXPECT_FALSE(names_hidden(places())) << flags;
        put_debug_file("bin/.debug/app.debug");
        EXPECT_TRUE(names_hidden(places())) << flags;
        fs::remove(folder / "bin/.debug/app.debug");
    }
}

TEST_F(DebugFile, OtherThingsOfItsNameDoNoHarm) {
    build("-Wl,--build-id=none");
    ASSERT_EQ(::mkfifo((folder / "bin/app.debug").c_str(), 0600), 0);
    std::ofstream(folder / "bin/.debug/app.debug") << "no ELF file";
    fs::create_directories(folder / "debug/bin/app.debug");
    EXPECT_FALSE(names_hidden(places()));
    fs::remove(folder / "bin/app.debug");
    fs::create_symlink("app", folder / "bin/app.debug");  // the program itself
    EXPECT_FALSE(names_hidden(places()));
}

TEST_F(DebugFile, BrokenFilesDoNoHarm) {
    build("-Wl,--build-id=sha1");
    Result<std::string> whole = read_file((folder / "bin/app").string(), 1 << 20);
    ASSERT_TRUE(whole);
    std::mt19937 random(1);
    size_t found = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string image = *whole;
        size_t headers = image.size() - 64 * 32;  // section headers are at the end
        for (size_t i = random() % 8; i > 0; --i)
            image[headers + random() % (image.size() - headers)] = static_cast<char>(random());
        for (size_t i = random() % 64; i > 0; --i)
            image[random() % image.size()] = static_cast<char>(random());
        if (round % 8 == 0) image.resize(random() % image.size());
        ElfPtr elf(elf_memory(image.data(), image.size()));
        if (!elf || elf_kind(elf.get()) != ELF_K_ELF) continue;
        found += build_id_of(elf.get()).size() == 40 && debug_link_of(elf.get());
    }
    EXPECT_GT(found, 0u);
}

// Fedora's programs have the names of their own functions so.
TEST_F(DebugFile, WhatIsPackedInTheProgramIsFound) {
    run("cc -O0 -o bin/app app.c && objcopy -S --keep-symbol=hidden bin/app small");
    run("xz -k small && strip bin/app && objcopy --add-section .gnu_debugdata=small.xz bin/app");
    EXPECT_TRUE(names_hidden(places()));
    run("head -c 200 small.xz > cut && objcopy --update-section .gnu_debugdata=cut bin/app");
    EXPECT_FALSE(names_hidden(places()));
}

TEST(DebugLink, IsATextAndItsFilesCrc) {
    using namespace std::literals;
    const auto link = read_debug_link("app.debug\0\0\0\x26\x39\xf4\xcb"sv);
    ASSERT_TRUE(link);
    EXPECT_EQ(link->name, "app.debug");
    EXPECT_EQ(link->crc, 0xcbf43926u);
    EXPECT_FALSE(read_debug_link("app.debug\0\0\0\x26\x39\xf4"sv));
    EXPECT_FALSE(read_debug_link("/etc/shadow\0\x26\x39\xf4\xcb"sv));
    EXPECT_FALSE(read_debug_link(""));
    UniqueFd file(::memfd_create("text", MFD_CLOEXEC));
    ASSERT_EQ(::write(file.get(), "123456789", 9), 9);
    EXPECT_TRUE(has_crc(file.get(), link->crc));
    EXPECT_FALSE(has_crc(file.get(), link->crc + 1));
}

}  // namespace
}  // namespace mlbcc::symbols
