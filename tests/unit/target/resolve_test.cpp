#include <gtest/gtest.h>

#include "fixture.h"

namespace mlbcc::target {
namespace {

std::string cuda_functions(const std::string& rules) {
    FakeHost host;
    host.add("libcuda.so.1", kCuda);
    const Resolved resolved(std::string(kCudaLine) + rules, host);
    EXPECT_EQ(resolved.messages(), "");
    return resolved.functions();
}

rules::TypeTable prototype(const std::string& name) {
    rules::TypeTable types;
    rules::Signature signature;
    signature.name = name;
    types.add(signature);
    return types;
}

TEST(Resolve, ANameIsTheBaseAndEveryExportedForm) {
    EXPECT_EQ(cuda_functions("on cuda:cuMemAlloc { count }"),
              "cuMemAlloc+20 cuMemAlloc_v2+30(cuMemAlloc)");
    EXPECT_EQ(cuda_functions("on cuda:cuMemcpyHtoDAsync { count }"),
              "cuMemcpyHtoDAsync+60 cuMemcpyHtoDAsync_v2+70(cuMemcpyHtoDAsync) "
              "cuMemcpyHtoDAsync_v2_ptsz+80(cuMemcpyHtoDAsync)");
}

TEST(Resolve, AFormIsThatFormAlone) {
    EXPECT_EQ(cuda_functions("on cuda:cuMemAlloc_v2 { count }"), "cuMemAlloc_v2+30(cuMemAlloc)");
}

TEST(Resolve, SeveralTargetsAndGlobsAddUp) {
    EXPECT_EQ(cuda_functions("on cuda:cuInit, cuda:cu*Alloc, cuda:cuMemA* { count }"),
              "cuInit+10 cuMemAlloc+20 cuMemAlloc_v2+30(cuMemAlloc)");
}

TEST(Resolve, ExceptTakesOutNamesAndTheirForms) {
    EXPECT_EQ(cuda_functions("on cuda:cu* except cuMem*, cuLaunchKernel, cuGetErrorName { count }"),
              "cuInit+10 cuGetErrorString+c0");
    EXPECT_EQ(cuda_functions("on cuda:cuMemAlloc except cuMemAlloc_v2 { count }"), "cuMemAlloc+20");
}

// What a list leaves out is counted by functions, unless another rule traces them.
TEST(Resolve, AListOfFunctions) {
    FakeHost host;
    host.add("libcuda.so.1", kCuda);
    const std::string list =
        std::string(kCudaLine) +
        "functions asks = cuGet*, cuInit, cuNoSuch, cuLaunchKernel as \"asks\"\n";
    const Resolved out(list + "on cuda:cu* except asks, cuMem* { count } on cuda:cuInit { count }",
                       host, {}, true);
    EXPECT_EQ(out.functions(), "cuInit+10");
    EXPECT_EQ(out.left_out(), "libcuda.so.1 4 asks");
    const Resolved alone(list + "on cuda:asks { count }", host, {}, true);
    EXPECT_EQ(alone.functions(),
              "cuInit+10 cuLaunchKernel+90 cuLaunchKernel_ptsz+a0(cuLaunchKernel) "
              "cuGetErrorName+b0 cuGetErrorString+c0");
    EXPECT_EQ(alone.left_out() + alone.messages(), "");
    const Resolved none(std::string(kCudaLine) + "functions asks = cuNo, cuSuch\n"
                                                 "on cuda:asks { count }",
                        host);
    EXPECT_EQ(none.messages(), R"(error: no function in `libcuda.so.1` matches `asks`
 --> test.rules:3:9
  |
3 | on cuda:asks { count }
  |         ^^^^
  = note: searched the 12 functions of /lib/libcuda.so.1
)");
}

TEST(Resolve, NamesAtOneAddressAreOneProbe) {
    FakeHost host;
    host.add("libc.so.6", "malloc@10 __libc_malloc@10 free@20 cfree@20 __libc_free@20");
    const std::string library = "library c = \"libc.so.6\"\n";
    const Resolved all(library + "on c:* { count }", host);
    EXPECT_EQ(all.functions(), "malloc+10=__libc_malloc free+20=__libc_free,cfree");
    EXPECT_EQ(all.messages(), "");
    const Resolved named(library + "on c:* { count } on c:cfree { count }", host);
    EXPECT_EQ(named.functions(), "malloc+10=__libc_malloc cfree+20=__libc_free,free");
    EXPECT_EQ(named.uses("cfree"), "0 1");
    EXPECT_EQ(named.messages(), "");
}

// Two overloads, a thunk, and functions of other names.
constexpr std::string_view kCxx = "_ZN2ns1fEi@10 _ZN2ns1fEd@20 _ZN2ns1gEv@30 _ZN3NetC1Ev@40 "
                                  "_ZN3NetC2Ev@40 _ZThn16_N2ns1fEi@50 plain@60 _Z1hv@70";

std::string cxx_functions(const std::string& rules) {
    FakeHost host;
    host.add("libcxx.so", kCxx);
    const Resolved resolved("library c = \"libcxx.so\"\n" + rules, host);
    EXPECT_EQ(resolved.messages(), "");
    return resolved.functions();
}

TEST(Resolve, NamesOfCxxAreMatchedAsPeopleWriteThem) {
    EXPECT_EQ(cxx_functions("on c:ns::f { count }"), "_ZN2ns1fEi+10(ns::f) _ZN2ns1fEd+20(ns::f)");
    EXPECT_EQ(cxx_functions("on c:\"ns::f(int)\" { count }"), "_ZN2ns1fEi+10(ns::f)");
    EXPECT_EQ(cxx_functions("on c:ns::* except ns::f { count }"), "_ZN2ns1gEv+30(ns::g)");
    EXPECT_EQ(cxx_functions("on c:Net::Net { count }"), "_ZN3NetC1Ev+40(Net::Net)=_ZN3NetC2Ev");
    EXPECT_EQ(cxx_functions("on c:::h, c:plain { count }"), "plain+60 _Z1hv+70(h)");
    EXPECT_EQ(cxx_functions("on c:_ZN2ns1g* { count }"), "_ZN2ns1gEv+30(ns::g)");
}

TEST(Resolve, AWrongNameOfCxxHasHelp) {
    FakeHost host;
    host.add("libcxx.so", kCxx);
    EXPECT_EQ(Resolved("on \"libcxx.so\":ns::ff { count }", host).messages(),
              "error: no function in `libcxx.so` matches `ns::ff`\n"
              " --> test.rules:1:16\n  |\n1 | on \"libcxx.so\":ns::ff { count }\n"
              "  |                ^^^^^^\n"
              "  = note: searched the 8 functions of /lib/libcxx.so\n"
              "  = help: a function with a similar name exists: `ns::f`\n");
}

TEST(Resolve, AnAliasWithAPrototypeGivesTheName) {
    FakeHost host;
    host.add("libc.so.6", "malloc@10 __libc_malloc@10");
    const Resolved resolved("on \"libc.so.6\":*malloc { count }", host, prototype("__libc_malloc"));
    EXPECT_EQ(resolved.functions(), "__libc_malloc+10=malloc");
    EXPECT_NE(resolved.probe("__libc_malloc").signature, nullptr);
}

TEST(Resolve, ThePrototypeOfAnyNameOfAFunctionServes) {
    FakeHost host;
    host.add("libc.so.6", "malloc@10 __libc_malloc@10 free@20");
    const Resolved resolved("on \"libc.so.6\":malloc, \"libc.so.6\":free { count }", host,
                            prototype("__libc_malloc"));
    EXPECT_EQ(resolved.functions(), "malloc+10=__libc_malloc free+20");
    ASSERT_NE(resolved.probe("malloc").signature, nullptr);
    EXPECT_EQ(resolved.probe("malloc").signature->name, "__libc_malloc");
    EXPECT_EQ(resolved.probe("free").signature, nullptr);
}

TEST(Resolve, ExceptWithANameTakesTheFunctionOutAndAGlobTakesNames) {
    FakeHost host;
    host.add("libc.so.6", "malloc@10 __libc_malloc@10 free@20");
    const std::string library = "library c = \"libc.so.6\"\n";
    EXPECT_EQ(Resolved(library + "on c:* except malloc { count }", host).functions(), "free+20");
    EXPECT_EQ(Resolved(library + "on c:* except __libc_* { count }", host).functions(),
              "malloc+10=__libc_malloc free+20");
}

TEST(Resolve, RulesOnAFunctionComeWeakestFirst) {
    FakeHost host;
    host.add("libcuda.so.1", kCuda);
    const Resolved resolved(std::string(kCudaLine) +
                                "on cuda:cuMemAlloc_v2 { count }\n"  // 0: the longest name
                                "on cuda:cuMemAlloc { count }\n"     // 1: a name
                                "on cuda:cu*Alloc* { count }\n"      // 2: 7 characters
                                "on cuda:cu* { count }\n"            // 3: 2 characters
                                "on cuda:*Alloc_? { count }\n"       // 4: 6, matches nothing more
                                "on cuda:cuMemAlloc { count }\n"     // 5: as 1, but later
                                "on cuda:*, cuda:cuMem?lloc { count }",  // 6: its best target
                            host);
    EXPECT_EQ(resolved.uses("cuMemAlloc_v2"), "3 2 6 1 5 0");
    EXPECT_EQ(resolved.uses("cuMemAlloc"), "3 2 6 1 5");
    EXPECT_EQ(resolved.uses("cuInit"), "6 3");
}

TEST(Resolve, ARuleActsOnceOnAFunctionWithItsMostExactTarget) {
    FakeHost host;
    host.add("libcuda.so.1", kCuda);
    const Resolved resolved(
        std::string(kCudaLine) + "on cuda:cuInit, cuda:cu*, cuda:cuIni? { count }", host);
    ASSERT_EQ(resolved.probe("cuInit").uses.size(), 1u);
    EXPECT_EQ(resolved.probe("cuInit").uses[0].target->pattern, "cuInit");
}

TEST(Resolve, ALibrarysNamesAreTriedInTheirOrder) {
    FakeHost host;
    host.add("libb.so", "f@10");
    host.add("libc.so", "f@20");
    const Resolved resolved("library x = \"liba.so\", \"libb.so\", \"libc.so\"\n"
                            "on x:f { count }",
                            host);
    EXPECT_EQ(resolved.functions(), "f+10");
    EXPECT_EQ(resolved.function("f").path, "/lib/libb.so");
    EXPECT_EQ(resolved.function("f").soname, "libb.so");
    EXPECT_EQ(resolved.messages(), "");
}

TEST(Resolve, AGlobOfFilesTracesAllOfThem) {
    FakeHost host;
    host.libraries["libx*.so"].paths = {"/lib/libxb.so", "/lib/libxa.so"};
    host.files["/lib/libxa.so"] = symbols_of("f@10");
    host.files["/lib/libxb.so"] = symbols_of("f@20 g@30");
    const Resolved resolved("library x = \"libx*.so\"\non x:f { count } on x:g { count }", host);
    EXPECT_EQ(resolved.functions(), "f+10 f+20 g+30");
    EXPECT_EQ(resolved.function("g").soname, "libxb.so");
    EXPECT_EQ(resolved.messages(), "");
}

TEST(Resolve, TheNameOfTheRuleIsShownForARealFileWithAnother) {
    FakeHost host;
    host.libraries["libcuda.so.1"].paths = {"/lib/libcuda.so.535.261.03"};
    host.files["/lib/libcuda.so.535.261.03"] = symbols_of("cuInit@10");
    const Resolved resolved(std::string(kCudaLine) + "on cuda:cuInit { count }", host);
    EXPECT_EQ(resolved.function("cuInit").soname, "libcuda.so.1");
    EXPECT_EQ(resolved.function("cuInit").path, "/lib/libcuda.so.535.261.03");
}

TEST(Resolve, OneFileByTwoNamesIsOneSetOfProbes) {
    FakeHost host;
    host.add("libcuda.so.1", kCuda);
    host.libraries["/opt/libcuda.so"].paths = {"/lib/libcuda.so.1"};
    const Resolved resolved(std::string(kCudaLine) +
                                "on \"/opt/libcuda.so\":cuMemAlloc_v2 { count }\n"
                                "on cuda:cuMemAlloc { count }",
                            host);
    EXPECT_EQ(resolved.functions(), "cuMemAlloc+20 cuMemAlloc_v2+30(cuMemAlloc)");
    EXPECT_EQ(resolved.uses("cuMemAlloc_v2"), "1 0");
    EXPECT_EQ(host.reads, 1);
    EXPECT_EQ(host.searches, 2);
}

TEST(Resolve, AQuotedNameTakesTheVariantsOfItsLibraryLine) {
    FakeHost host;
    host.add("libcuda.so.1", kCuda);
    const std::string rule = "on \"libcuda.so.1\":cuMemAlloc { count }";
    EXPECT_EQ(Resolved(std::string(kCudaLine) + rule, host).functions(),
              "cuMemAlloc+20 cuMemAlloc_v2+30(cuMemAlloc)");
    EXPECT_EQ(Resolved(rule, host).functions(), "cuMemAlloc+20");
}

TEST(Resolve, PathsStartAtTheFolderOfTheRuleFile) {
    FakeHost host;
    host.libraries["rules|./libx.so"].paths = {"/work/rules/libx.so"};
    host.files["/work/rules/libx.so"] = symbols_of("f@10");
    const Resolved resolved("library x = \"./libx.so\"\non x:f { count }", host);
    EXPECT_EQ(resolved.function("f").path, "/work/rules/libx.so");
    EXPECT_EQ(resolved.function("f").soname, "libx.so");
}

TEST(Resolve, StaticFunctionsOfOneNameAreProbesOfTheirOwn) {
    FakeHost host;
    host.add("libx.so", "init@10 init@20");
    EXPECT_EQ(Resolved("on \"libx.so\":init { count }", host).functions(), "init+10 init+20");
}

TEST(Resolve, ASizeAndAnOffsetAreThoseOfTheSymbol) {
    FakeHost host;
    host.add("libx.so", "f@1230");
    const Resolved resolved("on \"libx.so\":f { count }", host);
    EXPECT_EQ(resolved.function("f").offset, 0x1230u);
    EXPECT_EQ(resolved.function("f").size, 16u);
}

TEST(Resolve, NoRulesIsNoProbes) {
    FakeHost host;
    const Resolved resolved("library x = \"libx.so\"\n", host);
    EXPECT_EQ(resolved.functions(), "");
    EXPECT_EQ(resolved.messages(), "");
    EXPECT_EQ(host.searches, 0);
}

}  // namespace
}  // namespace mlbcc::target
