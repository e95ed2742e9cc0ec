#include "target/forms.h"

#include <algorithm>

#include "target/target.h"
#include "text/glob.h"

namespace mlbcc::target {

namespace {

constexpr std::string_view kWildcards = "*?[";
constexpr uint32_t kLiteral = 1u << 31;

// cuCtxCreate_v3 -> 3, cuMemcpyHtoD_v2_ptds -> 2, cuInit -> 0.
uint32_t version_of(std::string_view symbol) {
    const size_t at = symbol.rfind("_v");
    if (at == std::string_view::npos) return 0;
    uint32_t version = 0;
    for (const char c : symbol.substr(at + 2, 6)) {
        if (c < '0' || c > '9') break;
        version = version * 10 + static_cast<uint32_t>(c - '0');
    }
    return version;
}

// Characters of a glob that stand for themselves: 5 of `cuMem*`, 3 of `cu[AB]x`.
uint32_t literal_characters(std::string_view glob) {
    uint32_t count = 0;
    for (size_t i = 0; i < glob.size(); i++) {
        if (glob[i] == '[') {
            const size_t close = glob.find(']', i + 2);
            if (close != std::string_view::npos) i = close;
        } else if (glob[i] != '*' && glob[i] != '?') {
            count++;
        }
    }
    return count;
}

}  // namespace

std::string_view without_last_suffix(std::string_view symbol, const Variants& variants) {
    for (const std::string& suffix : variants) {
        if (!suffix.empty() && symbol.size() > suffix.size() && symbol.ends_with(suffix)) {
            return symbol.substr(0, symbol.size() - suffix.size());
        }
    }
    return symbol;
}

std::string_view base_of(std::string_view symbol, const Variants& variants) {
    while (true) {
        const std::string_view shorter = without_last_suffix(symbol, variants);
        if (shorter.size() == symbol.size()) return symbol;
        symbol = shorter;
    }
}

bool is_higher_form(std::string_view a, std::string_view b) {
    const uint32_t version_a = version_of(a), version_b = version_of(b);
    if (version_a != version_b) return version_a > version_b;
    if (a.size() != b.size()) return a.size() < b.size();
    return a < b;
}

NamePattern::NamePattern(std::string_view text, const Variants& variants)
    : text_(text), variants_(&variants) {
    const size_t at = CxxPattern::is_one(text) ? text.npos : text.find('@', 1);
    if (at != text.npos) {
        version_ = text.substr(at + 1);
        text = text.substr(0, at);
        text_ = text;
    }
    if (is_glob(text)) {
        kind_ = Kind::glob;
    } else {
        kind_ = base_of(text, variants).size() == text.size() ? Kind::base : Kind::form;
    }
    prefix_length_ =
        kind_ == Kind::glob ? std::min(text.find_first_of(kWildcards), text.size()) : text.size();
    is_prefix_ = kind_ == Kind::glob && text.substr(prefix_length_) == "*";
    if (!CxxPattern::is_one(text)) return;
    kind_ = Kind::cxx;
    cxx_.emplace(text);
    prefix_length_ = 0;
}

bool NamePattern::matches(std::string_view symbol) const {
    switch (kind_) {
    case Kind::form: return symbol == text_;
    case Kind::base: return symbol.starts_with(text_) && base_of(symbol, *variants_) == text_;
    case Kind::cxx: return cxx_->matches(symbol);
    case Kind::glob: break;
    }
    if (!symbol.starts_with(prefix())) return false;
    if (is_prefix_) return true;
    if (glob_match(text_, symbol)) return true;
    const std::string_view base = base_of(symbol, *variants_);
    return base.size() != symbol.size() && glob_match(text_, base);
}

// "GLIBC_2.2.5" means it whether or not it is the default, "@GLIBC_2.14" only where it is.
bool NamePattern::takes_version(std::string_view version) const {
    if (!version_) return true;
    if (!version_->starts_with('@') && version.starts_with('@')) version.remove_prefix(1);
    return glob_match(*version_, version);
}

uint32_t NamePattern::exactness() const {
    if (is_literal()) return kLiteral | static_cast<uint32_t>(text_.size() & ~kLiteral);
    return literal_characters(text_);
}

std::string base_name(std::string_view symbol, const std::vector<std::string>& variants) {
    return std::string(base_of(symbol, variants));
}

bool name_matches(const std::string& pattern, const std::string& symbol) {
    const Variants none;
    return NamePattern(pattern, none).matches(symbol);
}

const rules::Signature* find_signature(const rules::TypeTable& types, std::string_view symbol,
                                       const std::vector<std::string>& variants) {
    std::string_view form = symbol;
    while (true) {
        if (const rules::Signature* own = types.function(form)) return own;
        const std::string_view shorter = without_last_suffix(form, variants);
        if (shorter.size() == form.size()) break;
        form = shorter;
    }
    const rules::Signature* highest = nullptr;
    const auto& functions = types.functions();
    for (auto it = functions.lower_bound(form); it != functions.end(); ++it) {
        if (!it->first.starts_with(form)) break;
        if (base_of(it->first, variants) != form) continue;
        if (highest == nullptr || is_higher_form(it->first, highest->name)) highest = &it->second;
    }
    return highest;
}

}  // namespace mlbcc::target
