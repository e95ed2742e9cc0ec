// Names of C++ as compilers write them and as people do, and patterns over the latter:
//
//   _ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE  ->  at::_ops::add_Tensor::call
//
// The encoding is that of the Itanium C++ ABI, section 5.1.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mlbcc {

// With parameters, and with the result's type where the encoding has it (of templates). Nullopt for
// what is no such name.
std::optional<std::string> demangled_cxx(std::string_view symbol);

// "void ns::f<int>(int) const" -> "ns::f<int>": without parameters, result and tags of the ABI.
std::string cxx_qualified_name(std::string_view demangled);

// "ns::f<int, std::less<int> >(int) const" -> "ns::f<...>(...) const": for people who look for f.
std::string shortened_cxx(std::string_view demangled);

// The qualified name of a function. Nullopt for what is no function of C++, or only a part of one:
// thunks, guards, tables, parts that the compiler has split off.
std::optional<std::string> cxx_function_name(std::string_view symbol);

// `at::_ops::*::call`, `::vecAdd` (of no namespace), `Net::run(int)`: a pattern over functions as
// people write them, of C++ and of Rust. With parameters it is one of several overloads.
class CxxPattern {
public:
    // Whether a pattern is meant so.
    static bool is_one(std::string_view pattern);

    explicit CxxPattern(std::string_view pattern);

    // A symbol, or a name that is written out already. Names of other functions are mostly told
    // apart by what their encoding must contain, without being decoded.
    bool matches(std::string_view symbol) const;
    const std::string& text() const { return text_; }
    bool is_literal() const { return literal_; }

private:
    bool may_match(std::string_view symbol) const;
    bool matches_name(std::string_view name) const;
    bool matches_rust(std::string_view name) const;

    std::string text_;
    bool literal_, with_parameters_;
    std::vector<std::string> parts_;  // that the encoding contains: "2at", "4call", "add_"
};

// Qualified names, each found out once; names that cannot be decoded stay as they are.
class CxxNames {
public:
    static constexpr size_t kMaxNames = 1 << 16;  // of later ones nothing is decoded

    // Lives as long as this does, or as `symbol`.
    std::string_view of(std::string_view symbol);

private:
    std::unordered_map<std::string, std::string> names_;
};

}  // namespace mlbcc
