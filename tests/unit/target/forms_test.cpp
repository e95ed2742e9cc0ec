#include "target/forms.h"

#include <gtest/gtest.h>

#include "target/target.h"

namespace mlbcc::target {
namespace {

const Variants kVariants{"_v2", "_v3", "_v10", "_ptds", "_ptsz"};

rules::TypeTable prototypes(const std::vector<std::string>& names) {
    rules::TypeTable types;
    for (const std::string& name : names) {
        rules::Signature signature;
        signature.name = name;
        types.add(signature);
    }
    return types;
}

std::string prototype_of(std::string_view symbol, const std::vector<std::string>& known) {
    const rules::TypeTable types = prototypes(known);
    const rules::Signature* found = find_signature(types, symbol, kVariants);
    return found == nullptr ? "none" : found->name;
}

TEST(BaseName, TakesSuffixesOffInAnySequence) {
    EXPECT_EQ(base_name("cuMemcpyHtoDAsync_v2_ptsz", kVariants), "cuMemcpyHtoDAsync");
    EXPECT_EQ(base_name("cuThing_ptsz_v2", kVariants), "cuThing");
    EXPECT_EQ(base_name("cuInit", kVariants), "cuInit");
    EXPECT_EQ(base_name("cuCtxCreate_v4", kVariants), "cuCtxCreate_v4");
    EXPECT_EQ(base_name("cuInit_v2", {}), "cuInit_v2");
}

TEST(BaseName, IsNeverEmpty) {
    EXPECT_EQ(base_name("_v2", kVariants), "_v2");
    EXPECT_EQ(base_name("_v2_v2", kVariants), "_v2");
    EXPECT_EQ(base_name("", kVariants), "");
    EXPECT_EQ(base_name("cuInit", {""}), "cuInit");
}

TEST(NamePattern, MayNameAVersion) {
    const NamePattern any("memcpy", kNoVariants), old("memcpy@GLIBC_2.2.5", kNoVariants),
        linked("memcpy@@GLIBC_2.14", kNoVariants), all("mem*@GLIBC_2.*", kNoVariants);
    for (const NamePattern* one : {&any, &old, &linked, &all}) EXPECT_TRUE(one->matches("memcpy"));
    EXPECT_TRUE(any.takes_version(""));
    EXPECT_TRUE(old.takes_version("GLIBC_2.2.5"));
    EXPECT_TRUE(old.takes_version("@GLIBC_2.2.5"));
    EXPECT_FALSE(old.takes_version("@GLIBC_2.14"));
    EXPECT_TRUE(linked.takes_version("@GLIBC_2.14"));
    EXPECT_FALSE(linked.takes_version("GLIBC_2.14"));
    EXPECT_TRUE(all.takes_version("@GLIBC_2.14"));
    EXPECT_FALSE(all.takes_version(""));
    EXPECT_TRUE(old.is_literal());
}

TEST(HigherForm, GoesByVersionThenByFewerSuffixes) {
    EXPECT_TRUE(is_higher_form("cuA_v2", "cuA"));
    EXPECT_TRUE(is_higher_form("cuA_v10", "cuA_v3"));
    EXPECT_TRUE(is_higher_form("cuA_v2", "cuA_v2_ptsz"));
    EXPECT_TRUE(is_higher_form("cuA_v2_ptsz", "cuA"));
    EXPECT_FALSE(is_higher_form("cuA", "cuA"));
}

TEST(FindSignature, PrefersTheFormsOwnPrototype) {
    EXPECT_EQ(prototype_of("cuA_v2", {"cuA", "cuA_v2", "cuA_v3"}), "cuA_v2");
}

TEST(FindSignature, TakesSuffixesOffOneByOne) {
    EXPECT_EQ(prototype_of("cuA_v2_ptsz", {"cuA", "cuA_v2", "cuA_v3"}), "cuA_v2");
    EXPECT_EQ(prototype_of("cuA_v2_ptsz", {"cuA", "cuA_v3"}), "cuA");
}

TEST(FindSignature, ElseTakesTheHighestFormOfTheBase) {
    EXPECT_EQ(prototype_of("cuA", {"cuA_v2", "cuA_v10", "cuA_v3", "cuAB"}), "cuA_v10");
    EXPECT_EQ(prototype_of("cuA_ptsz", {"cuA_v2_ptds", "cuA_v2"}), "cuA_v2");
    EXPECT_EQ(prototype_of("cuA", {"cuAB", "cuB_v2"}), "none");
}

TEST(NamePattern, ANameMeansTheBaseAndAllItsForms) {
    const NamePattern pattern("cuMemAlloc", kVariants);
    EXPECT_TRUE(pattern.matches("cuMemAlloc"));
    EXPECT_TRUE(pattern.matches("cuMemAlloc_v2"));
    EXPECT_TRUE(pattern.matches("cuMemAlloc_v2_ptsz"));
    EXPECT_FALSE(pattern.matches("cuMemAllocHost"));
    EXPECT_FALSE(pattern.matches("cuMemAlloc_v9"));
}

TEST(NamePattern, AFormMeansThatFormAlone) {
    const NamePattern pattern("cuMemAlloc_v2", kVariants);
    EXPECT_TRUE(pattern.matches("cuMemAlloc_v2"));
    EXPECT_FALSE(pattern.matches("cuMemAlloc"));
    EXPECT_FALSE(pattern.matches("cuMemAlloc_v2_ptsz"));
}

TEST(NamePattern, AGlobMatchesTheSymbolOrItsBase) {
    const NamePattern ending("cu*Alloc", kVariants);
    EXPECT_TRUE(ending.matches("cuMemAlloc"));
    EXPECT_TRUE(ending.matches("cuMemAlloc_v2"));
    EXPECT_FALSE(ending.matches("cuMemAllocHost"));
    const NamePattern form("cuMem*_v2", kVariants);
    EXPECT_TRUE(form.matches("cuMemAlloc_v2"));
    EXPECT_FALSE(form.matches("cuMemAlloc_v2_ptsz"));
    EXPECT_FALSE(form.matches("cuMemAlloc"));
}

TEST(NamePattern, ExactnessPutsNamesBeforeGlobsAndLongerBeforeShorter) {
    const auto exactness = [](std::string_view text) {
        return NamePattern(text, kVariants).exactness();
    };
    EXPECT_LT(exactness("*"), exactness("cu*"));
    EXPECT_LT(exactness("cu*"), exactness("cu*Alloc"));
    EXPECT_EQ(exactness("cu[AB]?"), exactness("cu*"));
    EXPECT_LT(exactness("cuMemAllocManaged*"), exactness("cuInit"));
    EXPECT_LT(exactness("cuMemAlloc"), exactness("cuMemAlloc_v2"));
}

}  // namespace
}  // namespace mlbcc::target
