#include "text/rust_names.h"

#include <gtest/gtest.h>

#include "text/cxx_names.h"

namespace mlbcc {
namespace {

// Symbols of programs that rustc made; the plain names are those of c++filt, without hashes.
TEST(RustNames, OfRfc2603) {
    constexpr std::pair<const char*, const char*> kNames[] = {
        {"_RNvC6_123foo3bar", "123foo::bar"},
        {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
        {"_RNvMs_NtCs1234_5alloc3vecINtB4_3VechE4push", "<alloc::vec::Vec<u8>>::push"},
        {"_RNvXs2_C1aNtB5_1TNtNtC4core3fmt5Debug3fmt.llvm.123", "<a::T as core::fmt::Debug>::fmt"},
        {"_RINvC1m4gen2FG_UKCllRL0_eEhEB2_",
         "m::gen2::<for<'a> unsafe extern \"C\" fn(i32, i32, &'a str) -> u8>"},
        {"_RINvC1m4gen3DG_INtC4core2FnTRL0_eQL0_Ahj4_EEp6OutputRL0_eEL_EB2_",
         "m::gen3::<dyn for<'a> core::Fn<(&'a str, &'a mut [u8; 4]), Output = &'a str>>"},
        {"_RNvMs0_C1mINtB5_1KKb1_Kc78_Kln5_E1k", "<m::K<true, 'x', -5>>::k"},
        {"_RINvC1m1fTSxPhOaEEB2_", "m::f::<([i64], *const u8, *mut i8)>"},
        {"_RINvC1m1fTzEuyE", "m::f::<(!,), (), u64>"},
        {"_RNvC1mu8lnge_loa", "m::länge"},
    };
    for (auto [mangled, plain] : kNames) {
        EXPECT_EQ(rust_name(mangled).value_or(""), plain) << mangled;
    }
}

TEST(RustNames, OfTheOlderForm) {
    constexpr std::pair<const char*, const char*> kNames[] = {
        {"_ZN3std2io5Write9write_all17h0123456789abcdefE", "std::io::Write::write_all"},
        {"_ZN1m4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.42",
         "m::main::{{closure}}"},
        {"_ZN44_$LT$$RF$T$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
         "<&T as core::fmt::Display>::fmt"},
        {"_ZN1m4a$b$17h0123456789abcdefE", "m::a$b$"},
    };
    for (auto [mangled, plain] : kNames) {
        EXPECT_EQ(rust_name(mangled).value_or(""), plain) << mangled;
    }
}

TEST(RustNames, OthersAreLeftAlone) {
    for (const char* name :
         {"", "_", "_R", "_RC", "_RC0", "_Rubbish", "_RNvC3foo", "_RNvC3foo3barx", "_RB_",
          "_RNvB_3foo", "_RIC1aB_E", "_RNvC9999999999999999999999a1b", "_RIC1aKbffE", "_RIC1aKlE",
          "_RIC1aKc_E", "_RINvC1m1fTSxPhOaE", "_RNvC1mu9lnge_loa1x"}) {
        EXPECT_FALSE(rust_name(name)) << name;
    }
    for (const char* name : {"_ZN", "_ZN3foo3barEi", "_ZN3foo3barE", "_ZN17h0123456789abcdefE",
                             "_ZN3foo17h0123456789abcdegE", "_ZN3foo17h0123456789abcdefEv",
                             "_ZN99999999999999999999aE", "_ZN3fo"}) {
        EXPECT_FALSE(rust_name(name)) << name;
    }
    EXPECT_FALSE(rust_name("_R" + std::string(100'000, 'I')));
    EXPECT_FALSE(rust_name("_RIC1a" + std::string(100'000, 'R')));
}

// "_" is 0, "0_" 1, "Z_" 62, "10_" 63
std::string base62(size_t value) {
    constexpr std::string_view kDigits =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string text = "_";
    if (value == 0) return text;
    for (size_t rest = value - 1; text.size() == 1 || rest > 0; rest /= 62)
        text.insert(text.begin(), kDigits[rest % 62]);
    return text;
}

// Each a pair of the one before: 40 of them would be a name of 8 TB.
TEST(RustNames, OneOfAbsurdLengthIsNoName) {
    std::string symbol = "_RINvC1a1f";
    size_t before = symbol.size() - 2;
    symbol += "TuuE";
    for (int i = 0; i < 40; ++i) {
        const size_t at = symbol.size() - 2;
        const std::string reference = "B" + base62(before);
        symbol += "T" + reference + reference + "E";
        before = at;
        if (i == 1) {
            EXPECT_EQ(rust_name(symbol + "E").value_or(""),
                      "a::f::<((), ()), (((), ()), ((), ())), ((((), ()), ((), ())), (((), ()), "
                      "((), ())))>");
        }
    }
    EXPECT_FALSE(rust_name(symbol + "E"));
}

TEST(RustNames, PatternsMeanThemAsPeopleWriteThem) {
    const auto matches = [](const char* pattern, const char* symbol) {
        return CxxPattern(pattern).matches(symbol);
    };
    EXPECT_TRUE(matches("cc::spawn::*", "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_"));
    EXPECT_TRUE(
        matches("<a::T as core::fmt::Debug>::fmt", "_RNvXs2_C1aNtB5_1TNtNtC4core3fmt5Debug3fmt"));
    EXPECT_TRUE(matches("m::f", "_RINvC1m1fTzEuyE"));
    EXPECT_TRUE(
        matches("std::io::Write::write_all", "_ZN3std2io5Write9write_all17h0123456789abcdefE"));
    EXPECT_FALSE(
        matches("std::io::Write::write", "_ZN3std2io5Write9write_all17h0123456789abcdefE"));
    EXPECT_FALSE(matches("m::g", "_RINvC1m1fTzEuyE"));
}

}  // namespace
}  // namespace mlbcc
