#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <random>
#include <set>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "elf/go_functions.h"
#include "files/scratch.h"

namespace mlbcc::elf {
namespace {

constexpr const char* kLibrary = R"(
#include <stddef.h>
int shared_data = 1;
int shared(int x) { return x + shared_data; }
extern __typeof(shared) also_shared __attribute__((alias("shared")));
__attribute__((noinline, used)) static int hidden_one(int x) { return x * 3; }
static int one(int x) { return hidden_one(x); }
static int two(int x) { return hidden_one(x) + 1; }
static int (*choose(void))(int) { return shared_data ? one : two; }
int chosen(int x) __attribute__((ifunc("choose")));
extern int elsewhere(int);
int calls(int x) { return elsewhere(x) + chosen(x); }
)";

std::set<std::string> names_of(const target::Symbols& symbols) {
    std::set<std::string> names;
    for (const target::Symbol& symbol : symbols.functions) names.insert(symbol.name);
    return names;
}

const target::Symbol& find(const target::Symbols& symbols, const std::string& name) {
    for (const target::Symbol& symbol : symbols.functions) {
        if (symbol.name == name) return symbol;
    }
    static const target::Symbol none;
    ADD_FAILURE() << "no symbol " << name;
    return none;
}

// The same functions at the same places, wherever the table is that was stripped off.
TEST(ReadSymbols, HasWhatIsInTheDebugFileOrPacked) {
    const files::Scratch scratch;
    const auto run = [&](const std::string& command) {
        const std::string line = fmt::format("cd {} && {}", scratch.path(""), command);
        ASSERT_EQ(std::system(line.c_str()), 0) << line;
    };
    const std::string path = scratch.compile("libx.so", kLibrary, "-shared -fPIC -Wl,--build-id");
    const auto whole = read_symbols(path);
    ASSERT_TRUE(whole);
    const uint64_t place = find(*whole, "hidden_one").offset;
    const auto there = [&] {
        const auto read = read_symbols(path, scratch.path("debug"));
        return read && names_of(*read).contains("hidden_one") &&
               find(*read, "hidden_one").offset == place;
    };
    run("cp libx.so whole && objcopy --only-keep-debug whole x.debug && strip libx.so");
    EXPECT_FALSE(there());
    run("objcopy --add-gnu-debuglink=x.debug libx.so");
    EXPECT_TRUE(there()) << "beside it";
    run("mkdir -p debug && mv x.debug y && strip -R .gnu_debuglink libx.so");
    EXPECT_FALSE(there());
    run("id=$(readelf -n whole | sed -n 's/.*Build ID: //p') && mkdir -p "
        "debug/.build-id/$(echo $id | cut -c1-2) && "
        "cp y debug/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug");
    EXPECT_TRUE(there()) << "by the build id";
    run("rm -r debug && objcopy -S --keep-symbol=hidden_one whole small && xz -k small && "
        "objcopy --add-section .gnu_debugdata=small.xz libx.so");
    EXPECT_TRUE(there()) << "packed";
}

std::string error_of(const std::string& path) {
    const auto symbols = read_symbols(path);
    if (symbols) return "read";
    const Error& error = symbols.error();
    return error.help.empty() ? error.message() : error.message() + " / " + error.help;
}

TEST(ReadSymbols, HasFunctionsDynamicAndStaticWithoutDataAndIfuncs) {
    const files::Scratch scratch;
    const auto symbols = read_symbols(scratch.compile("libx.so", kLibrary));
    ASSERT_TRUE(symbols);
    const std::set<std::string> names = names_of(*symbols);
    for (const char* name : {"shared", "also_shared", "hidden_one", "one", "two", "calls"}) {
        EXPECT_TRUE(names.contains(name)) << name;
    }
    for (const char* name : {"shared_data", "chosen", "elsewhere", ""}) {
        EXPECT_FALSE(names.contains(name)) << name;
    }
    EXPECT_EQ(symbols->ifuncs, std::vector<std::string>{"chosen"});
    EXPECT_EQ(find(*symbols, "shared").offset, find(*symbols, "also_shared").offset);
    EXPECT_GT(find(*symbols, "shared").size, 0u);
    EXPECT_EQ(names.size(), symbols->functions.size()) << "a name is there twice";
}

TEST(ReadSymbols, AStrippedLibraryHasItsExports) {
    const files::Scratch scratch;
    const auto symbols = read_symbols(scratch.compile("libx.so", kLibrary, "-shared -fPIC -s"));
    ASSERT_TRUE(symbols);
    const std::set<std::string> names = names_of(*symbols);
    EXPECT_TRUE(names.contains("shared"));
    EXPECT_FALSE(names.contains("hidden_one"));
}

// The text at an offset is the function's: its first bytes are written there as data.
TEST(ReadSymbols, OffsetsAreInTheFileAndNotAddresses) {
    const files::Scratch scratch;
    const std::string text = "__attribute__((section(\".marked\"), used)) int marked(void);\n"
                             "__asm__(\".section .marked,\\\"ax\\\"\\n.globl marked\\n"
                             ".type marked,@function\\nmarked: .ascii \\\"MARKED-HERE\\\"\\n"
                             ".size marked, 11\\n.text\\n\");";
    for (const char* options : {"-shared -fPIC", "-shared -fPIC -Wl,-Ttext-segment=0x40000",
                                "-shared -fPIC -Wl,-z,separate-code"}) {
        const auto symbols = read_symbols(scratch.compile("libx.so", text, options));
        ASSERT_TRUE(symbols);
        const target::Symbol& marked = find(*symbols, "marked");
        EXPECT_EQ(scratch.read("libx.so").substr(marked.offset, marked.size), "MARKED-HERE");
    }
}

TEST(ReadSymbols, VersionsOfASymbolAreOneNameEach) {
    const files::Scratch scratch;
    const std::string map = scratch.write("map", "V1 { global: f; local: *; }; V2 { global: f; };");
    const auto symbols = read_symbols(
        scratch.compile("libx.so",
                        "__asm__(\".symver f_old, f@V1\"); __asm__(\".symver f_new, f@@V2\");"
                        "int f_old(int x) { return x; } int f_new(int x) { return x + 1; }",
                        "-shared -fPIC -Wl,--version-script=" + map));
    ASSERT_TRUE(symbols);
    std::vector<uint64_t> offsets;
    for (const target::Symbol& symbol : symbols->functions) {
        EXPECT_EQ(symbol.name.find('@'), std::string::npos) << symbol.name;
        if (symbol.name == "f") offsets.push_back(symbol.offset);
    }
    ASSERT_EQ(offsets.size(), 2u);
    EXPECT_NE(offsets[0], offsets[1]);
}

// A return probe where no call has put a return address would break the program.
TEST(ReadSymbols, LeavesOutWhatIsNotEnteredByACall) {
    const files::Scratch scratch;
    const auto program = read_symbols(scratch.compile(
        "app",
        "__attribute__((cold, noinline)) void bad(int x) { __asm__ volatile(\"\" :: \"r\"(x)); }\n"
        "__attribute__((noinline)) int work(int x) {\n"
        "  if (x > 5) { bad(x); bad(x + 1); }\n"
        "  return x; }\n"
        "int main(int argc, char **argv) { return work(argc); }",
        "-O2 -freorder-blocks-and-partition"));
    ASSERT_TRUE(program);
    const std::set<std::string> names = names_of(*program);
    EXPECT_TRUE(names.contains("main"));
    EXPECT_TRUE(names.contains("work"));
    EXPECT_FALSE(names.contains("_start"));
    EXPECT_FALSE(names.contains("work.cold"));
    EXPECT_NE(scratch.read("app").find("work.cold"), std::string::npos) << "the test is void";
}

TEST(ReadSymbols, SaysWhichMachineAFileIsFor) {
    const files::Scratch scratch;
    const std::string path = scratch.compile("libx.so", kLibrary);
    EXPECT_EQ(read_symbols(path)->machine, elf_machine(path));
    std::string bytes = scratch.read("libx.so");
    const auto with_machine = [&](uint16_t machine, char elf_class, char order) {
        bytes[EI_CLASS] = elf_class;
        bytes[EI_DATA] = order;
        if (order == ELFDATA2MSB) machine = static_cast<uint16_t>(machine << 8 | machine >> 8);
        std::memcpy(&bytes[18], &machine, 2);
        const uint16_t type = order == ELFDATA2MSB ? 0x0300 : ET_DYN;
        std::memcpy(&bytes[16], &type, 2);
        return elf_machine(scratch.write("other.so", bytes)).value_or("none");
    };
    EXPECT_EQ(with_machine(EM_AARCH64, ELFCLASS64, ELFDATA2LSB), "aarch64");
    EXPECT_EQ(with_machine(EM_386, ELFCLASS32, ELFDATA2LSB), "i386");
    EXPECT_EQ(with_machine(EM_X86_64, ELFCLASS32, ELFDATA2LSB), "x32");
    EXPECT_EQ(with_machine(EM_S390, ELFCLASS64, ELFDATA2MSB), "s390x (big-endian)");
    EXPECT_EQ(with_machine(0x1234, ELFCLASS64, ELFDATA2LSB), "ELF machine 4660");
    EXPECT_EQ(read_symbols(scratch.path("other.so"))->machine, "ELF machine 4660");
}

TEST(ReadSymbols, SaysWhyAFileCannotBeRead) {
    const files::Scratch scratch;
    const auto path = [&](const char* name) { return scratch.path(name); };
    EXPECT_EQ(error_of(path("none")),
              "cannot open " + path("none") + ": No such file or directory");
    EXPECT_EQ(error_of(scratch.path()), scratch.path() + " is a directory");
    EXPECT_EQ(error_of("/dev/null"), "/dev/null is not a regular file");
    scratch.write("text", "hello");
    EXPECT_EQ(error_of(path("text")), path("text") + " is not an ELF file");
    scratch.write("empty", "");
    EXPECT_EQ(error_of(path("empty")), path("empty") + " is not an ELF file");
    scratch.write("script", "#!/bin/sh\n" + std::string(100, '#'));
    EXPECT_EQ(error_of(path("script")), path("script") +
                                            " is not an ELF file / it is a script: give the "
                                            "program that runs it");
    scratch.write("ld", "/* GNU ld script\n" + std::string(100, ' '));
    EXPECT_EQ(error_of(path("ld")), path("ld") +
                                        " is not an ELF file / it is a linker script: give the "
                                        "file that it names");
    scratch.compile("x.o", "int f(void) { return 1; }", "-c");
    EXPECT_EQ(error_of(path("x.o")),
              path("x.o") + " is an object file, not a program or a shared library");
}

TEST(ReadSymbols, SaysThatAFileIsCutOff) {
    const files::Scratch scratch;
    scratch.compile("libx.so", kLibrary);
    const std::string bytes = scratch.read("libx.so");
    const std::string cut = scratch.write("cut.so", bytes.substr(0, bytes.size() / 2));
    EXPECT_EQ(error_of(cut), cut + " is cut off or broken: its section table is not in it");
    std::string bare = bytes;
    std::memset(&bare[40], 0, 8);  // e_shoff
    const std::string path = scratch.write("bare.so", bare);
    EXPECT_EQ(error_of(path), path + " has no section table that names its functions");
}

// Whatever is in the file, functions lie inside of it.
TEST(ReadSymbols, SurvivesAnyBytes) {
    const files::Scratch scratch;
    scratch.compile("libx.so", kLibrary, "-shared -fPIC -Wl,-soname,libx.so.1");
    const std::string whole = scratch.read("libx.so");
    std::mt19937 random(7);
    int with_functions = 0;
    const UniqueFd file(memfd_create("broken.so", MFD_CLOEXEC));
    const std::string path = fmt::format("/proc/self/fd/{}", file.get());
    const auto try_bytes = [&](const std::string& bytes) {
        ASSERT_EQ(ftruncate(file.get(), 0), 0);
        ASSERT_EQ(pwrite(file.get(), bytes.data(), bytes.size(), 0),
                  static_cast<ssize_t>(bytes.size()));
        elf_soname(path);
        const auto symbols = read_symbols(path);
        if (!symbols) return;
        if (!symbols->functions.empty()) with_functions++;
        for (const target::Symbol& symbol : symbols->functions) {
            ASSERT_LT(symbol.offset, bytes.size()) << symbol.name;
        }
    };
    for (size_t size = 0; size < whole.size(); size += 1 + random() % 97) {
        try_bytes(whole.substr(0, size));
    }
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof header);
    const size_t sections = header.e_shnum * sizeof(Elf64_Shdr);
    // In the header, the segments, the section table, and anywhere.
    const std::array<std::pair<size_t, size_t>, 4> places{
        {{16, 48}, {header.e_phoff, 600}, {header.e_shoff, sections}, {0, whole.size()}}};
    for (int i = 0; i < 3000; i++) {
        std::string broken = whole;
        const auto [begin, size] = places[static_cast<size_t>(i) % places.size()];
        for (int n = 0; n < 1 + i % 8; n++) {
            broken[begin + random() % size] = static_cast<char>(random());
        }
        try_bytes(broken);
    }
    EXPECT_GT(with_functions, 500);
}

TEST(ReadSymbols, DoesNotWaitForAPipe) {
    const files::Scratch scratch;
    ASSERT_EQ(mkfifo(scratch.path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(error_of(scratch.path("pipe")), scratch.path("pipe") + " is not a regular file");
}

TEST(ElfSoname, IsTheOneTheLinkerWrote) {
    const files::Scratch scratch;
    EXPECT_EQ(elf_soname(scratch.compile("a.so", kLibrary, "-shared -fPIC -Wl,-soname,libx.so.7")),
              "libx.so.7");
    EXPECT_EQ(elf_soname(scratch.compile("b.so", kLibrary)), std::nullopt);
    EXPECT_EQ(elf_soname(scratch.write("text", "hello")), std::nullopt);
}

TEST(ReadSymbols, TellWhetherStacksAreUnwoundOrSwitched) {
    const files::Scratch scratch;
    const auto stacks_of = [&](const char* name, const char* text) {
        const auto symbols = read_symbols(scratch.compile(name, text));
        EXPECT_TRUE(symbols);
        return std::pair(symbols->stacks.stacks(), symbols->stacks.why());
    };
    EXPECT_EQ(stacks_of("plain.so", "int f(int x) { return x; }"),
              std::pair(target::Stacks::steady, std::string()));
    EXPECT_EQ(stacks_of("exits.so", "void pthread_exit(void *); void f(void) { pthread_exit(0); }"),
              std::pair(target::Stacks::unwound, std::string("it imports `pthread_exit`")));
    EXPECT_EQ(stacks_of("switches.so",
                        "int swapcontext(void *, void *); void pthread_exit(void *);"
                        "int f(void) { pthread_exit(0); return swapcontext(0, 0); }"),
              std::pair(target::Stacks::switched, std::string("it imports `swapcontext`")));
    EXPECT_EQ(stacks_of("boost.so", "void jump_fcontext(void) {}"),
              std::pair(target::Stacks::switched, std::string("it has `jump_fcontext`")));
    EXPECT_EQ(stacks_of("own.so", "static void __attribute__((used)) __cxa_throw(void) {}").first,
              target::Stacks::steady);
    const auto own = read_symbols(scratch.path("own.so"));
    ASSERT_TRUE(own);
    EXPECT_EQ(own->stacks.of_function(true).stacks(), target::Stacks::steady);
    EXPECT_EQ(own->stacks.of_function(false).why(), "it has `__cxa_throw`");
    EXPECT_EQ(stacks_of("libc.so", "void makecontext(void) {} void pthread_exit(void) {}").first,
              target::Stacks::steady);
    EXPECT_EQ(stacks_of("go.so", "__attribute__((section(\".gopclntab\"))) const int table = 1;"),
              std::pair(target::Stacks::go, std::string("it has `.gopclntab`")));
}

// Go 1.18: the header, the table of functions, their structures, their names.
std::string go_table(uint64_t text, uint32_t magic = 0xfffffff0) {
    std::string table(8 + 8 * 8 + 2 * 8 + 4 + 2 * 8, '\0');
    const auto put = [&](size_t at, auto value) { std::memcpy(&table[at], &value, sizeof value); };
    const uint64_t functions = 72, names = table.size();
    put(0, magic);
    table[6] = 1;
    table[7] = 8;
    const uint64_t words[] = {2, 1, text, names, 0, 0, 0, functions};
    for (size_t i = 0; i < 8; ++i) put(8 + 8 * i, words[i]);
    const uint32_t entries[] = {0x10, 20, 0x50, 28, 0x90};
    for (size_t i = 0; i < 5; ++i) put(functions + 4 * i, entries[i]);
    put(functions + 20 + 4, int32_t{0});
    put(functions + 28 + 4, int32_t{10});
    table += std::string("main.main\0main.(*T).do\0", 23);
    return table;
}

TEST(GoFunctions, AreThoseOfTheRuntimesTable) {
    const std::string table = go_table(0x1000);
    const std::vector<GoFunction> found = go_functions(table, 0);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].name, "main.main");
    EXPECT_EQ(found[0].address, 0x1010u);
    EXPECT_EQ(found[0].size, 0x40u);
    EXPECT_EQ(found[1].name, "main.(*T).do");
    EXPECT_EQ(go_functions(go_table(0), 0x2000)[1].address, 0x2050u);
    EXPECT_TRUE(go_functions(go_table(0, 0xfffffffb), 0).empty());  // of Go 1.2
}

TEST(GoFunctions, SurviveAnyBytes) {
    std::mt19937 random(3);
    for (int round = 0; round < 3000; ++round) {
        std::string table = go_table(0x1000);
        for (int i = 0; i < 4; ++i)
            table[8 + random() % (table.size() - 8)] = static_cast<char>(random());
        table.resize(random() % (table.size() + 1));
        for (const GoFunction& one : go_functions(table, 0))
            EXPECT_LT(one.name.size(), table.size());
    }
}

}  // namespace
}  // namespace mlbcc::elf
