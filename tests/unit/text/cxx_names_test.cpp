#include "text/cxx_names.h"

#include <gtest/gtest.h>

#include <string>

namespace mlbcc {
namespace {

TEST(CxxNames, AQualifiedNameHasNoParametersAndNoResult) {
    EXPECT_EQ(
        cxx_qualified_name("at::_ops::add_Tensor::call(at::Tensor const&, c10::Scalar const&)"),
        "at::_ops::add_Tensor::call");
    EXPECT_EQ(cxx_qualified_name("void ns::f<int, (E)1>(int)"), "ns::f<int, (E)1>");
    EXPECT_EQ(cxx_qualified_name("std::vector<int, std::allocator<int> >::size() const"),
              "std::vector<int, std::allocator<int> >::size");
    EXPECT_EQ(cxx_qualified_name("unsigned long g<void (int)>(void (*)(int))"), "g<void (int)>");
    EXPECT_EQ(cxx_qualified_name("(anonymous namespace)::hidden(int)"),
              "(anonymous namespace)::hidden");
    EXPECT_EQ(cxx_qualified_name("Net::operator()(int) const"), "Net::operator()");
    EXPECT_EQ(cxx_qualified_name("Net::operator unsigned long() const"),
              "Net::operator unsigned long");
    EXPECT_EQ(cxx_qualified_name("std::ostream& ns::operator<< <int>(std::ostream&, int)"),
              "ns::operator<< <int>");
    EXPECT_EQ(cxx_qualified_name("main::{lambda(int)#1}::operator()(int) const"),
              "main::{lambda(int)#1}::operator()");
    EXPECT_EQ(cxx_qualified_name("name[abi:cxx11]()"), "name");
    EXPECT_EQ(cxx_qualified_name("f(int) [clone .isra.0]"), "f");
    EXPECT_EQ(cxx_qualified_name("value"), "value");
}

TEST(CxxNames, Shortened) {
    EXPECT_EQ(shortened_cxx("void at::f<float, std::less<int> >(c10::ArrayRef<long>, int) const"),
              "void at::f<...>(...) const");
    EXPECT_EQ(shortened_cxx("(anonymous namespace)::A<int>::g()+0x1f [clone .isra.0]"),
              "(anonymous namespace)::A<...>::g()+0x1f [clone .isra.0]");
    EXPECT_EQ(shortened_cxx("ns::operator<(A<int> const&)"), "ns::operator<(...)");
    EXPECT_EQ(shortened_cxx("A::operator()(int)::{lambda(int)#1}::f"),
              "A::operator()(...)::{lambda(...)#1}::f");
    EXPECT_EQ(shortened_cxx("A::operator->()"), "A::operator->()");
    EXPECT_EQ(shortened_cxx("B<&A::operator->>(int)"), "B<...>(...)");
    EXPECT_EQ(shortened_cxx("main+0x10"), "main+0x10");
    EXPECT_EQ(shortened_cxx("broken<(("), "broken<...>");
}

TEST(CxxNames, OnlyWholeFunctionsHaveAName) {
    EXPECT_EQ(cxx_function_name("_Z6vecAddPKfS0_Pfi"), "vecAdd");
    EXPECT_EQ(cxx_function_name("_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE"),
              "at::_ops::add_Tensor::call");
    EXPECT_EQ(cxx_function_name("cuInit"), std::nullopt);
    EXPECT_EQ(cxx_function_name("_ZThn16_N3Net3runEv"), std::nullopt) << "a thunk";
    EXPECT_EQ(cxx_function_name("_ZTV3Net"), std::nullopt) << "a table";
    EXPECT_EQ(cxx_function_name("_Z1fv.cold"), std::nullopt);
    EXPECT_EQ(cxx_function_name("_Z1fv.part.0"), std::nullopt);
    EXPECT_EQ(cxx_function_name("_Z1fv.isra.0"), "f");
    EXPECT_EQ(cxx_function_name("_Zbroken"), std::nullopt);
    EXPECT_EQ(cxx_function_name("_ZN4core3fmt3pad17h0123456789abcdefE"), std::nullopt) << "of Rust";
}

bool matches(const std::string& pattern, const std::string& symbol) {
    return CxxPattern(pattern).matches(symbol);
}

TEST(CxxPatterns, MatchNamesAsPeopleWriteThem) {
    const std::string add = "_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE";
    EXPECT_TRUE(matches("at::_ops::*::call", add));
    EXPECT_TRUE(matches("at::_ops::add_*::call", add));
    EXPECT_TRUE(matches("at::_ops::add_Tensor::call", add));
    EXPECT_TRUE(matches("*::call", add));
    EXPECT_FALSE(matches("at::_ops::*::redispatch", add));
    EXPECT_FALSE(matches("at::_ops::add_Scalar::call", add));
    EXPECT_FALSE(matches("_ops::add_Tensor::call", add));
    EXPECT_FALSE(matches("at::_ops::*::call", "cuInit"));
}

TEST(CxxPatterns, MeanAllOverloadsUnlessTheyHaveParameters) {
    EXPECT_TRUE(matches("ns::f", "_ZN2ns1fEi"));
    EXPECT_TRUE(matches("ns::f", "_ZN2ns1fEd"));
    EXPECT_TRUE(matches("ns::f(int)", "_ZN2ns1fEi"));
    EXPECT_FALSE(matches("ns::f(int)", "_ZN2ns1fEd"));
    EXPECT_TRUE(matches("Net::run(int) const", "_ZNK3Net3runEi"));
    EXPECT_TRUE(matches("Net::run(int*)", "_ZNK3Net3runEi"));
    EXPECT_TRUE(matches("ns::f", "_ZN2ns1fIiEEvT_")) << "and all of a template";
    EXPECT_TRUE(matches("ns::f<int>", "_ZN2ns1fIiEEvT_"));
    EXPECT_FALSE(matches("ns::f<long>", "_ZN2ns1fIiEEvT_"));
}

TEST(CxxPatterns, KnowWhatTheEncodingAbbreviates) {
    EXPECT_TRUE(matches("::vecAdd", "_Z6vecAddPKfS0_Pfi"));
    EXPECT_FALSE(matches("::vecAdd", "_ZN2ns6vecAddEv"));
    EXPECT_TRUE(matches("Net::Net", "_ZN3NetC1Ei"));
    EXPECT_TRUE(matches("Net::~Net", "_ZN3NetD2Ev"));
    EXPECT_TRUE(matches("Net::operator()", "_ZNK3NetclEi"));
    EXPECT_TRUE(matches("std::vector*::push_back", "_ZNSt6vectorIiSaIiEE9push_backERKi"));
    EXPECT_TRUE(matches("(anonymous namespace)::hidden", "_ZN12_GLOBAL__N_16hiddenEi"));
}

TEST(CxxPatterns, AreWhatHasScopesOrParameters) {
    EXPECT_TRUE(CxxPattern::is_one("at::add"));
    EXPECT_TRUE(CxxPattern::is_one("vecAdd(float*)"));
    EXPECT_FALSE(CxxPattern::is_one("cu*"));
    EXPECT_FALSE(CxxPattern::is_one("_ZN2at*"));
    EXPECT_TRUE(matches("at::*", "at::add")) << "a name that stands for one that will come";
}

TEST(CxxNames, OfTypes) {
    CxxNames names;
    EXPECT_EQ(names.of("3Odd"), "Odd");
    EXPECT_EQ(names.of("N2at6TensorE"), "at::Tensor");
    EXPECT_EQ(names.of("St13runtime_error"), "std::runtime_error");
    for (const char* other : {"i", "f", "123", "NE", "Name", "N2atE x", "Stop1", "St1", "3"})
        EXPECT_EQ(names.of(other), other);
}

TEST(CxxNames, AreFoundOutOnce) {
    CxxNames names;
    const std::string_view first = names.of("_Z6vecAddPKfS0_Pfi");
    EXPECT_EQ(first, "vecAdd");
    EXPECT_EQ(names.of("_Z6vecAddPKfS0_Pfi").data(), first.data());
    EXPECT_EQ(names.of("gemm"), "gemm");
    EXPECT_EQ(names.of("_Zbroken"), "_Zbroken");
}

}  // namespace
}  // namespace mlbcc
