#include <gtest/gtest.h>

#include "fixture.h"

namespace mlbcc::target {
namespace {

std::string message_of(FakeHost& host, const std::string& rules) {
    return Resolved(rules, host).messages();
}
std::string cuda_message(const std::string& rule) {
    FakeHost host;
    host.add("libcuda.so.1", kCuda);
    return message_of(host, std::string(kCudaLine) + rule);
}

TEST(Messages, ATypoInAName) {
    EXPECT_EQ(cuda_message("on cuda:cuMemAloc { count }"),
              R"(error: no function in `libcuda.so.1` matches `cuMemAloc`
 --> test.rules:2:9
  |
2 | on cuda:cuMemAloc { count }
  |         ^^^^^^^^^
  = note: searched the 12 functions of /lib/libcuda.so.1
  = help: the library has `cuMemAlloc_v2`, which `cuMemAlloc` matches
)");
}
TEST(Messages, ATypoInANameWithoutForms) {
    EXPECT_EQ(cuda_message("on cuda:cuinit { count }"),
              R"(error: no function in `libcuda.so.1` matches `cuinit`
 --> test.rules:2:9
  |
2 | on cuda:cuinit { count }
  |         ^^^^^^
  = note: searched the 12 functions of /lib/libcuda.so.1
  = help: a function with a similar name exists: `cuInit`
)");
}
TEST(Messages, AFormThatIsNotExported) {
    EXPECT_EQ(cuda_message("on cuda:cuMemcpyHtoDAsync_ptds { count }"),
              R"(error: no function in `libcuda.so.1` matches `cuMemcpyHtoDAsync_ptds`
 --> test.rules:2:9
  |
2 | on cuda:cuMemcpyHtoDAsync_ptds { count }
  |         ^^^^^^^^^^^^^^^^^^^^^^
  = note: searched the 12 functions of /lib/libcuda.so.1
  = help: the library has `cuMemcpyHtoDAsync_v2`, which `cuMemcpyHtoDAsync` matches
)");
}
TEST(Messages, NothingLikeIt) {
    EXPECT_EQ(cuda_message("on cuda:hipMalloc { count }"),
              R"(error: no function in `libcuda.so.1` matches `hipMalloc`
 --> test.rules:2:9
  |
2 | on cuda:hipMalloc { count }
  |         ^^^^^^^^^
  = note: searched the 12 functions of /lib/libcuda.so.1
)");
}
TEST(Messages, APatternThatMatchesNothing) {
    EXPECT_EQ(cuda_message("on cuda:cuMemAloc* { count }"),
              R"(error: no function in `libcuda.so.1` matches `cuMemAloc*`
 --> test.rules:2:9
  |
2 | on cuda:cuMemAloc* { count }
  |         ^^^^^^^^^^
  = note: searched the 12 functions of /lib/libcuda.so.1
  = help: 2 functions begin with `cuMemAl`, for example `cuMemAlloc`
)");
}
TEST(Messages, AnOptionalTargetThatMatchesNothing) {
    EXPECT_EQ(cuda_message("on optional cuda:cuMemAloc { count }"),
              R"(note: no function in `libcuda.so.1` matches `cuMemAloc`
 --> test.rules:2:18
  |
2 | on optional cuda:cuMemAloc { count }
  |                  ^^^^^^^^^
  = note: searched the 12 functions of /lib/libcuda.so.1
  = note: the rule is `optional`: this target is left out
)");
}
TEST(Messages, WhatSeveralOptionalRulesMissIsSaidOnce) {
    EXPECT_EQ(cuda_message("on optional cuda:cuMemAloc { count }\n"
                           "on optional cuda:cuMemAloc { hist duration }"),
              cuda_message("on optional cuda:cuMemAloc { count }\n"
                           "on cuda:cuInit { hist duration }"));
}
TEST(Messages, ExceptTakesEverythingOut) {
    EXPECT_EQ(cuda_message("on cuda:cuMem* except cu* { count }"),
              R"(error: `except` takes out all that `cuMem*` matches in `libcuda.so.1`
 --> test.rules:2:9
  |
2 | on cuda:cuMem* except cu* { count }
  |         ^^^^^^
  = help: narrow `except`, or remove this target
)");
}
TEST(Messages, AnExceptWithATypo) {
    EXPECT_EQ(cuda_message("on cuda:cuGet* except cuGetErorName, cuNothing { count }"),
              R"(warning: `cuGetErorName` takes nothing out: no function has that name
 --> test.rules:2:23
  |
2 | on cuda:cuGet* except cuGetErorName, cuNothing { count }
  |                       ^^^^^^^^^^^^^
  = help: a function with a similar name exists: `cuGetErrorName`
)");
}

TEST(Messages, AnIfunc) {
    FakeHost host;
    host.add("libc.so.6", "memcmp_x@10 __memcpy_avx@20 __memcpy_erms@30 __memcpy_evex@40 "
                          "__memcpy_sse2@50 __memcpy_ssse3@60");
    std::get<Symbols>(host.files["/lib/libc.so.6"]).ifuncs = {"memcpy"};
    EXPECT_EQ(message_of(host, "on \"libc.so.6\":memcpy { count }"),
              R"(error: no function in `libc.so.6` matches `memcpy`
 --> test.rules:1:16
  |
1 | on "libc.so.6":memcpy { count }
  |                ^^^^^^
  = note: searched the 6 functions of /lib/libc.so.6
  = note: `memcpy` is an IFUNC: its implementations are `__memcpy_avx`, `__memcpy_erms`, `__memcpy_evex` and 2 more
  = help: trace the implementations: `__memcpy_*`
)");
}
TEST(Messages, AnIfuncBesideAnOldVersion) {
    FakeHost host;
    host.add("libc.so.6", "memcpy@10 __memcpy_avx@20 __memcpy_erms@30");
    std::get<Symbols>(host.files["/lib/libc.so.6"]).ifuncs = {"memcpy"};
    EXPECT_EQ(message_of(host, "on \"libc.so.6\":memcpy { count }"),
              R"(warning: `memcpy` is only an old version here, which few programs call
 --> test.rules:1:16
  |
1 | on "libc.so.6":memcpy { count }
  |                ^^^^^^
  = note: `memcpy` is an IFUNC: its implementations are `__memcpy_avx` and `__memcpy_erms`
  = help: trace the implementations: `__memcpy_*`
)");
    EXPECT_EQ(message_of(host, "on \"libc.so.6\":mem* { count }"), "");
    EXPECT_EQ(message_of(host, "on optional \"libc.so.6\":memcpy { count }"), "");
}
TEST(Messages, AnIfuncOfAStrippedLibrary) {
    FakeHost host;
    host.add("libc.so.6", "malloc@10");
    std::get<Symbols>(host.files["/lib/libc.so.6"]).ifuncs = {"memcpy", "memset"};
    EXPECT_EQ(message_of(host, "on \"libc.so.6\":memcpy, \"libc.so.6\":mem* { count }"),
              R"(error: no function in `libc.so.6` matches `memcpy`
 --> test.rules:1:16
  |
1 | on "libc.so.6":memcpy, "libc.so.6":mem* { count }
  |                ^^^^^^
  = note: searched the 1 function of /lib/libc.so.6
  = note: `memcpy` is an IFUNC: its implementations have no symbols

error: no function in `libc.so.6` matches `mem*`
 --> test.rules:1:36
  |
1 | on "libc.so.6":memcpy, "libc.so.6":mem* { count }
  |                                    ^^^^
  = note: searched the 1 function of /lib/libc.so.6
  = note: it matches IFUNCs only (`memcpy` and `memset`): each picks one of its implementations when the program starts
)");
}
// A return probe on setjmp() makes longjmp() jump into the kernel's trampoline: seen on Linux 6.18.
TEST(Messages, AFunctionThatReturnsTwice) {
    FakeHost host;
    host.add("libc.so.6", "_setjmp@10 getcontext@20 my_alias@20 qsort@30");
    EXPECT_EQ(message_of(host, "on \"libc.so.6\":_setjmp { count }"),
              R"(error: no probe on the return of `_setjmp`: it returns twice, which a probe breaks
 --> test.rules:1:16
  |
1 | on "libc.so.6":_setjmp { count }
  |                ^^^^^^^
  = help: act on the way in: `on entry`
)");
    const Resolved all("on \"libc.so.6\":* { count }", host);
    EXPECT_EQ(all.functions(), "qsort+30");
    EXPECT_EQ(all.messages(), R"(note: `*` leaves out `_setjmp`, `getcontext` and `my_alias`
 --> test.rules:1:16
  |
1 | on "libc.so.6":* { count }
  |                ^
  = note: what returns twice can be traced `on entry` only
)");
    const Resolved entry("on entry \"libc.so.6\":* { count }", host);
    EXPECT_EQ(entry.functions(), "_setjmp+10 my_alias+20=getcontext qsort+30");
    EXPECT_EQ(entry.messages().size(), 0u);
}
TEST(Messages, AStrippedProgram) {
    FakeHost host;
    host.add("app", "");
    EXPECT_EQ(message_of(host, "on \"app\":main { count }"),
              R"(error: no function in `app` matches `main`
 --> test.rules:1:10
  |
1 | on "app":main { count }
  |          ^^^^
  = note: /lib/app has no function symbols: it is stripped
)");
}

TEST(Messages, ALibraryThatIsNotThere) {
    FakeHost host;
    EXPECT_EQ(message_of(host, "library foo = \"libfoo.so\"\n"
                               "on foo:a { count }\non optional foo:b { count }"),
              R"(error: library `libfoo.so` was not found
 --> test.rules:1:1
  |
1 | library foo = "libfoo.so"
  | ^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: searched /etc/ld.so.cache
  = note: searched /usr/lib
  = help: install it, give its path, add its folder to LD_LIBRARY_PATH, or mark the rule `optional`
)");
}
TEST(Messages, SeveralNamesOfALibraryThatIsNotThere) {
    FakeHost host;
    host.libraries["libfoo.so"].similar = {"libfoo.so.3", "libfoobar.so.1"};
    EXPECT_EQ(message_of(host, "library foo = \"libfoo.so\", \"libfoo.so.1\"\n"
                               "on foo:a, foo:b { count }\n"),
              R"(error: library `libfoo.so` or `libfoo.so.1` was not found
 --> test.rules:1:1
  |
1 | library foo = "libfoo.so", "libfoo.so.1"
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: searched /etc/ld.so.cache
  = note: searched /usr/lib
  = help: this machine has `libfoo.so.3`, `libfoobar.so.1`
  = help: install it, give its path, add its folder to LD_LIBRARY_PATH, or mark the rule `optional`
)");
}
TEST(Messages, AnOptionalLibraryThatIsNotThere) {
    FakeHost host;
    EXPECT_EQ(message_of(host, "library foo = \"libfoo.so\"\non optional foo:a { count }"),
              R"(note: library `libfoo.so` was not found
 --> test.rules:1:1
  |
1 | library foo = "libfoo.so"
  | ^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: the rules on it are `optional` and are left out
)");
}
TEST(Messages, APathThatIsNotThere) {
    FakeHost host;
    host.libraries["./libfoo.so"].searched = {"/work/rules/libfoo.so"};
    EXPECT_EQ(message_of(host, "on \"./libfoo.so\":a { count }"),
              R"(error: library `./libfoo.so` was not found
 --> test.rules:1:4
  |
1 | on "./libfoo.so":a { count }
  |    ^^^^^^^^^^^^^
  = note: searched /work/rules/libfoo.so
  = help: correct the path (a relative one starts at the folder of the rule file), or mark the rule `optional`
)");
}

TEST(Messages, ALibraryForAnotherMachine) {
    FakeHost host;
    host.add("libfoo.so", "a@10");
    host.files["/lib/libfoo.so"] = symbols_of("a@10", "aarch64");
    EXPECT_EQ(message_of(host, "library foo = \"libfoo.so\"\non foo:a { count }"),
              R"(error: `libfoo.so` is built for aarch64, and this machine is x86_64
 --> test.rules:1:1
  |
1 | library foo = "libfoo.so"
  | ^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: the file is /lib/libfoo.so
  = help: give the path of the library for x86_64
)");
}
TEST(Messages, AFileThatIsNotElf) {
    FakeHost host;
    host.add("libfoo.so", "");
    host.files["/lib/libfoo.so"] = Error{"/lib/libfoo.so is not an ELF file", 0,
                                         "it is a linker script: give the file that it names"};
    EXPECT_EQ(message_of(host, "library foo = \"libfoo.so\"\non foo:a { count }"),
              R"(error: cannot read the functions of `libfoo.so`
 --> test.rules:1:1
  |
1 | library foo = "libfoo.so"
  | ^^^^^^^^^^^^^^^^^^^^^^^^^
  = note: /lib/libfoo.so is not an ELF file
  = help: it is a linker script: give the file that it names
)");
}
TEST(Messages, OneOfTheFilesOfAGlobIsNotElf) {
    FakeHost host;
    host.libraries["libfoo*"].paths = {"/lib/libfoo.a", "/lib/libfoo.so"};
    host.files["/lib/libfoo.a"] = Error{"cannot open /lib/libfoo.a", EACCES, {}};
    host.files["/lib/libfoo.so"] = symbols_of("a@10");
    const Resolved resolved("library foo = \"libfoo*\"\non foo:a { count }", host);
    EXPECT_EQ(resolved.functions(), "a+10");
    EXPECT_EQ(resolved.messages(), R"(note: cannot read the functions of `libfoo*`
 --> test.rules:1:1
  |
1 | library foo = "libfoo*"
  | ^^^^^^^^^^^^^^^^^^^^^^^
  = note: cannot open /lib/libfoo.a: Permission denied
  = note: the other files of this library are traced
)");
}
TEST(Messages, SeveralFilesWithoutTheFunction) {
    FakeHost host;
    for (const char* path : {"/lib/1", "/lib/2", "/lib/3", "/lib/4", "/lib/5", "/lib/6"}) {
        host.libraries["libfoo*"].paths.push_back(path);
        host.files[path] = symbols_of("a@10");
    }
    EXPECT_EQ(message_of(host, "library foo = \"libfoo*\"\non foo:bcd { count }"),
              R"(error: no function in `libfoo*` matches `bcd`
 --> test.rules:2:8
  |
2 | on foo:bcd { count }
  |        ^^^
  = note: searched the 1 function of /lib/1
  = note: searched the 1 function of /lib/2
  = note: searched the 1 function of /lib/3
  = note: searched the 1 function of /lib/4
  = note: and in 2 more files
)");
}

}  // namespace
}  // namespace mlbcc::target
