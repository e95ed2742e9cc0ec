#include "elf/usdt.h"

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "files/scratch.h"
#include "host/live_host.h"

namespace mlbcc::elf {
namespace {

// One note as <sys/sdt.h> makes it; `semaphore` is a symbol or 0.
std::string probe(const std::string& name, const std::string& semaphore,
                  const std::string& arguments) {
    return fmt::format(
        R"(__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n"
".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"
"993: .8byte 990b, _.stapsdt.base, {1}\n.asciz \"app\"\n.asciz \"{0}\"\n.asciz \"{2}\"\n"
"994: .balign 4\n.popsection\n.ifndef _.stapsdt.base\n"
".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"
".size _.stapsdt.base,1\n.popsection\n.endif");)",
        name, semaphore, arguments);
}

std::string program() {
    return "__attribute__((section(\".probes\"), visibility(\"hidden\")))"
           "unsigned short counter = 0x1234;\n"
           "int table[4] = {1, 2, 3, 4};\n"
           "void work(void) {\n" +
           probe("begin", "counter", "8@%rdi -4@table+8(%rip)") + probe("plain", "0", "") +
           probe("begin", "counter", "-4@$7") + "}\n";
}

// "app:begin sem 8@%rdi -4@table+8(%rip)"
std::string text_of(const UsdtProbe& probe) {
    std::string text = probe.provider + ":" + probe.name;
    if (probe.semaphore != 0) text += " sem";
    for (const UsdtArgument& argument : probe.arguments) text += " " + argument.text;
    return text;
}

std::string text_of(const UsdtProbes& probes) {
    std::string text = probes.broken == 0 ? "" : fmt::format("{} broken\n", probes.broken);
    for (const UsdtProbe& each : probes.probes) text += text_of(each) + "\n";
    return text;
}

std::string text_of_file(const std::string& path) {
    const auto read = read_usdt(path);
    return read ? text_of(*read) : read.error().message();
}

constexpr const char* kProbes = "app:begin sem 8@%rdi -4@table+8(%rip)\n"
                                "app:plain\n"
                                "app:begin sem -4@$7\n";

// What a test does to the text of notes is done to this machine's only.
class Usdt : public testing::Test {
protected:
    void SetUp() override {
        if (host::LiveHost({}).architecture() != "x86_64")
            GTEST_SKIP() << "notes are made for x86-64";
    }
    files::Scratch scratch_;
};

TEST_F(Usdt, ProbesAreWhereTheNopIs) {
    for (const char* options : {"-shared -fPIC", "-shared -fPIC -Wl,-z,noseparate-code",
                                "-shared -fPIC -Wl,-Ttext-segment=0x40000"}) {
        const std::string path = scratch_.compile("libx.so", program(), options);
        const auto read = read_usdt(path);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->machine, "x86_64");
        EXPECT_EQ(text_of(*read), kProbes);
        const std::string bytes = scratch_.read("libx.so");
        std::set<uint64_t> offsets;
        for (const UsdtProbe& each : read->probes) {
            EXPECT_EQ(bytes[each.offset], '\x90');
            offsets.insert(each.offset);
            if (each.name == "begin") {
                EXPECT_EQ(bytes.substr(each.semaphore, 2), "\x34\x12");
            }
        }
        EXPECT_EQ(offsets.size(), 3u);
    }
}

TEST_F(Usdt, ProbesOfAProgramThatCannotBeMoved) {
    const std::string text = program() + "int main(void) { work(); return 0; }";
    EXPECT_EQ(text_of_file(scratch_.compile("app", text, "-no-pie")), kProbes);
    EXPECT_EQ(text_of_file(scratch_.compile("app", text, "-no-pie -s")), kProbes);
}

// The value of table[2] is in the file, as far from the probe as the argument says.
TEST_F(Usdt, ASymbolIsADistanceFromTheProbe) {
    const auto read = read_usdt(scratch_.compile("libx.so", program()));
    ASSERT_TRUE(read);
    const UsdtProbe& begin = read->probes.at(0);
    const auto* memory = std::get_if<UsdtMemory>(&begin.arguments.at(1).place);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(memory->base, "pc");
    const std::string bytes = scratch_.read("libx.so");
    const auto symbols = scratch_.path("symbols");
    const std::string command = "nm " + scratch_.path("libx.so") + " > " + symbols;
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "there is no nm";
    const std::string names = scratch_.read("symbols");
    const size_t line = names.find(" D table");
    ASSERT_NE(line, names.npos);
    const uint64_t table = std::stoull(names.substr(line - 16, 16), nullptr, 16);
    EXPECT_EQ(begin.address + static_cast<uint64_t>(memory->displacement), table + 8);
}

TEST_F(Usdt, ASymbolThatIsStrippedIsNotKnown) {
    std::string text = program();
    text.replace(text.find("int table"), 3, "static int");
    text += "int *use(void) { return table; }";
    const auto whole = read_usdt(scratch_.compile("libx.so", text));
    const auto stripped = read_usdt(scratch_.compile("libs.so", text, "-shared -fPIC -s"));
    ASSERT_TRUE(whole && stripped);
    const auto place = [](const UsdtProbes& probes) {
        return probes.probes.at(0).arguments.at(1).place;
    };
    EXPECT_TRUE(std::holds_alternative<UsdtMemory>(place(*whole)));
    const UsdtArgument& argument = stripped->probes.at(0).arguments.at(1);
    ASSERT_TRUE(std::holds_alternative<UsdtUnknown>(argument.place));
    EXPECT_EQ(std::get<UsdtUnknown>(argument.place).why,
              "`table+8(%rip)` is at the symbol `table`, which the file does not have once");
}

// Prelinking moves the code and .stapsdt.base, and leaves the notes: so do older notes here.
TEST_F(Usdt, ProbesMoveWithTheBase) {
    const auto before = read_usdt(scratch_.compile("libx.so", program()));
    std::string bytes = scratch_.read("libx.so");
    const std::string owner("stapsdt\0", 8);
    for (size_t at = bytes.find(owner); at != bytes.npos; at = bytes.find(owner, at + 1)) {
        for (size_t i = 0; i < 3; ++i) {
            uint64_t address = 0;
            std::memcpy(&address, &bytes[at + 8 + 8 * i], 8);
            if (address != 0) address -= 0x5000;
            std::memcpy(&bytes[at + 8 + 8 * i], &address, 8);
        }
    }
    const auto after = read_usdt(scratch_.write("moved.so", bytes));
    ASSERT_TRUE(before && after);
    ASSERT_EQ(after->probes.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(after->probes[i].address, before->probes[i].address);
        EXPECT_EQ(after->probes[i].offset, before->probes[i].offset);
        EXPECT_EQ(after->probes[i].semaphore, before->probes[i].semaphore);
    }
}

// ---- notes that are not as they should be

// A library with one section of notes, of which the assembler makes `notes`.
std::string with_notes(const files::Scratch& scratch, const std::string& notes) {
    return scratch.compile("libn.so", "int f(void) { return 1; }\n__asm__(\".pushsection "
                                      ".note.stapsdt,\\\"\\\",\\\"note\\\"\\n.balign 4\\n" +
                                          notes + "\\n.popsection\");");
}

std::string note(const std::string& sizes, const std::string& description) {
    return ".4byte " + sizes + "\\n.asciz \\\"stapsdt\\\"\\n" + description + "\\n.balign 4\\n";
}
const std::string kPlace = ".8byte f, 0, 0\\n";
const std::string kGood =
    note("8, 32, 3", kPlace + ".asciz \\\"p\\\"\\n.asciz \\\"good\\\"\\n.asciz \\\"\\\"");

TEST_F(Usdt, NotesOfOthersAreNoProbes) {
    EXPECT_EQ(text_of_file(with_notes(scratch_, kGood)), "p:good\n");
    EXPECT_EQ(text_of_file(with_notes(scratch_, note("8, 4, 4", ".4byte 1") + kGood)), "p:good\n");
    const std::string other = ".4byte 4, 4, 3\\n.asciz \\\"GNU\\\"\\n.4byte 7\\n";
    EXPECT_EQ(text_of_file(with_notes(scratch_, other + kGood)), "p:good\n");
    EXPECT_EQ(text_of_file(scratch_.compile("none.so", "int f(void) { return 1; }")), "");
}

TEST_F(Usdt, BrokenNotesAreCountedAndLeftOut) {
    const auto text = [&](const std::string& notes) {
        return text_of_file(with_notes(scratch_, notes));
    };
    EXPECT_EQ(text(note("8, 8, 3", ".8byte f") + kGood), "1 broken\np:good\n") << "too short";
    EXPECT_EQ(text(note("8, 28, 3", kPlace + ".ascii \\\"pppp\\\"") + kGood), "1 broken\np:good\n")
        << "a text that does not end";
    EXPECT_EQ(text(note("8, 28, 3", kPlace + ".asciz \\\"p\\\", \\\"\\\"") + kGood),
              "1 broken\np:good\n")
        << "no name";
    EXPECT_EQ(text(note("8, 30, 3", ".8byte f + 0x7000000, 0, 0\\n.asciz \\\"p\\\"\\n"
                                    ".asciz \\\"q\\\", \\\"\\\"") +
                   kGood),
              "1 broken\np:good\n")
        << "not in the code";
    EXPECT_EQ(text(note("8, 30, 3", ".8byte f, 0, f\\n.asciz \\\"p\\\"\\n"
                                    ".asciz \\\"q\\\", \\\"\\\"") +
                   kGood),
              "1 broken\np:good\n")
        << "a counter that cannot be written";
    EXPECT_EQ(text(kGood + note("8, 400, 3", kPlace)), "1 broken\np:good\n") << "cut off";
    EXPECT_EQ(text(kGood + note("8, 0xfffffffd, 3", kPlace)), "1 broken\np:good\n");
    EXPECT_EQ(text(kGood + note("0xffffffff, 8, 3", kPlace)), "p:good\n") << "of whom?";
    EXPECT_EQ(text(kGood + ".4byte 8, 0\\n"), "p:good\n");
}

// Whatever is in the file, probes lie inside of it.
TEST_F(Usdt, SurvivesAnyBytes) {
    scratch_.compile("libx.so", program());
    const std::string whole = scratch_.read("libx.so");
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof header);
    const size_t note = whole.find(std::string("stapsdt\0", 8));
    const std::array<std::pair<size_t, size_t>, 4> places{
        {{note - 12, 300},
         {header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)},
         {header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)},
         {16, 48}}};
    const UniqueFd file(memfd_create("broken.so", MFD_CLOEXEC));
    const std::string path = fmt::format("/proc/self/fd/{}", file.get());
    std::mt19937 random(11);
    int with_probes = 0, with_broken = 0;
    for (int i = 0; i < 4000; ++i) {
        std::string bytes = whole;
        const auto [begin, size] = places[static_cast<size_t>(i) % places.size()];
        for (int n = 0; n < 1 + i % 8; ++n) {
            bytes[begin + random() % size] = static_cast<char>(random());
        }
        if (i % 16 == 0) bytes.resize(random() % bytes.size());
        ASSERT_EQ(ftruncate(file.get(), 0), 0);
        ASSERT_EQ(pwrite(file.get(), bytes.data(), bytes.size(), 0),
                  static_cast<ssize_t>(bytes.size()));
        const auto read = read_usdt(path);
        if (!read) continue;
        with_probes += read->probes.empty() ? 0 : 1;
        with_broken += read->broken == 0 ? 0 : 1;
        for (const UsdtProbe& each : read->probes) {
            ASSERT_LT(each.offset, bytes.size());
            ASSERT_LT(each.semaphore, bytes.size());
        }
    }
    EXPECT_GT(with_probes, 1000);
    EXPECT_GT(with_broken, 100);
}

TEST(ReadUsdt, SaysWhyAFileCannotBeRead) {
    const files::Scratch scratch;
    EXPECT_EQ(text_of_file(scratch.path("none")),
              "cannot open " + scratch.path("none") + ": No such file or directory");
    EXPECT_EQ(text_of_file(scratch.write("text", "hello")),
              scratch.path("text") + " is not an ELF file");
}

// ---- files of this machine

std::string library(const std::string& soname) {
    const auto found = host::LiveHost({}).find_library(soname, ".");
    return found.paths.empty() ? "" : found.paths[0];
}

// All arguments are understood, and where a probe is there is nothing to do.
std::set<std::string> checked_names(const std::string& path) {
    const auto read = read_usdt(path);
    EXPECT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->broken, 0u);
    host::LiveHost host({});
    std::set<std::string> names;
    for (const UsdtProbe& each : read->probes) {
        names.insert(each.provider + ":" + each.name);
        const auto code = host.read(path, each.offset, 4);
        EXPECT_TRUE(code && code->size() == 4);
        const bool is_nop = read->machine == "x86_64" ? code->at(0) == std::byte{0x90}
                                                      : code->at(3) == std::byte{0xd5};
        EXPECT_TRUE(is_nop) << text_of(each);
        for (const UsdtArgument& argument : each.arguments) {
            const auto* unknown = std::get_if<UsdtUnknown>(&argument.place);
            EXPECT_EQ(unknown, nullptr) << argument.text << ": " << unknown->why;
        }
    }
    return names;
}

TEST(ReadUsdt, OfTheCppLibrary) {
    const std::string path = library("libstdc++.so.6");
    if (path.empty()) GTEST_SKIP() << "there is no libstdc++.so.6";
    if (text_of_file(path).empty()) GTEST_SKIP() << path << " was built without probes";
    EXPECT_EQ(checked_names(path),
              (std::set<std::string>{"libstdcxx:catch", "libstdcxx:rethrow", "libstdcxx:throw"}));
}

TEST(ReadUsdt, OfPython) {
    std::string path = library("libpython3.11.so.1.0");
    if (path.empty()) path = "/usr/bin/python3.11";
    if (!elf_machine(path)) GTEST_SKIP() << "there is no Python 3.11 of Debian's";
    if (text_of_file(path).empty()) GTEST_SKIP() << path << " was built without probes";
    EXPECT_EQ(checked_names(path),
              (std::set<std::string>{"python:audit", "python:function__entry",
                                     "python:function__return", "python:gc__done",
                                     "python:gc__start", "python:import__find__load__done",
                                     "python:import__find__load__start", "python:line"}));
    const auto read = read_usdt(path);
    for (const UsdtProbe& each : read->probes) {
        EXPECT_NE(each.semaphore, 0u) << each.name;
        if (each.name != "function__entry") continue;
        EXPECT_EQ(each.arguments.size(), 3u);
    }
}

}  // namespace
}  // namespace mlbcc::elf
