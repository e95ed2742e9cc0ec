// The forms of a name: `cuMemcpyHtoDAsync_v2_ptsz` is the base `cuMemcpyHtoDAsync` and the variant
// suffixes `_v2` and `_ptsz`. And what a name or a glob of a rule says of a symbol and its base.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/cxx_names.h"

namespace mlbcc::target {

using Variants = std::vector<std::string>;

// The name without its last suffix, or the same name where it has none. Never empty.
std::string_view without_last_suffix(std::string_view symbol, const Variants& variants);
// base_name() of target.h as a view into `symbol`.
std::string_view base_of(std::string_view symbol, const Variants& variants);

// A GLOB of a rule, as it applies to the functions of one library:
//
//   cuMemAlloc      the base and all its forms
//   cuMemAlloc_v2   this form alone
//   cuMem*          the symbols it matches, and the forms of the bases it matches
//   memcpy@GLIBC_2.2.5, memcpy@@GLIBC_2.14     those of this version, as `nm -D` has it
//   at::_ops::*     functions of C++ by the names that people write
inline const Variants kNoVariants;

class NamePattern {
public:
    NamePattern(std::string_view text, const Variants& variants);

    bool matches(std::string_view symbol) const;
    bool takes_version(std::string_view version) const;  // Symbol::version
    bool is_literal() const {
        return kind_ == Kind::cxx ? cxx_->is_literal() : kind_ != Kind::glob;
    }
    bool is_cxx() const { return kind_ == Kind::cxx; }
    const std::string& text() const { return text_; }
    // What every symbol that matches begins with.
    std::string_view prefix() const { return std::string_view(text_).substr(0, prefix_length_); }
    // RuleUse::exactness.
    uint32_t exactness() const;

private:
    enum class Kind { base, form, glob, cxx };
    std::string text_;
    std::optional<std::string> version_;
    const Variants* variants_;
    Kind kind_;
    size_t prefix_length_;
    bool is_prefix_;  // a prefix and a `*`
    std::optional<CxxPattern> cxx_;
};

}  // namespace mlbcc::target
