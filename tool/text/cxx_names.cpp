#include "text/cxx_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "text/glob.h"
#include "text/rust_names.h"

namespace mlbcc {

namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr std::string_view kOperator = "operator";

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE": older Rust compilers write names so, too.
bool is_rust(std::string_view symbol) {
    constexpr size_t kHash = 16;
    const size_t at = symbol.rfind("17h");
    return at != kNone && symbol.substr(at + 3).size() == kHash + 1 && symbol.ends_with('E');
}

// Parts of functions: `f() [clone .cold]`, `f() [clone .part.0]`.
bool is_part(std::string_view symbol) {
    return symbol.find(".cold") != kNone || symbol.find(".part.") != kNone;
}

bool is_function_symbol(std::string_view symbol) {
    if (!symbol.starts_with("_Z") || symbol.starts_with("_ZT") || symbol.starts_with("_ZG")) {
        return false;
    }
    return !is_rust(symbol) && !is_part(symbol);
}

// Where the `(` is that the `)` at `close` belongs to.
size_t opening(std::string_view text, size_t close) {
    int depth = 0;
    for (size_t i = close + 1; i-- > 0;) {
        if (text[i] == ')') ++depth;
        if (text[i] == '(' && --depth == 0) return i;
    }
    return kNone;
}

// Where `operator` begins that is a word of its own, outside of brackets; else the end.
size_t operator_at(std::string_view text) {
    for (size_t at = text.find(kOperator); at != kNone; at = text.find(kOperator, at + 1)) {
        const size_t end = at + kOperator.size();
        const bool begins = at == 0 || !is_name_char(text[at - 1]);
        if (begins && (end == text.size() || !is_name_char(text[end]))) return at;
    }
    return text.size();
}

// "void ns::f<int>" -> "ns::f<int>": what stands behind the last blank that is in no brackets.
std::string_view without_result(std::string_view name) {
    const size_t end = operator_at(name);
    std::string open;
    size_t begin = 0;
    for (size_t i = 0; i < end; ++i) {
        const char c = name[i];
        const bool in_angles = open.empty() || open.back() == '<';
        if (c == '(' || c == '{' || c == '[' || (c == '<' && in_angles)) open += c;
        const bool closes = c == ')' || c == '}' || c == ']' || (c == '>' && in_angles);
        if (closes && !open.empty()) open.pop_back();
        if (c == ' ' && open.empty()) begin = i + 1;
    }
    return name.substr(begin);
}

// "f[abi:cxx11]" -> "f"
std::string without_tags(std::string_view name) {
    std::string text(name);
    for (size_t at = text.find("[abi:"); at != kNone; at = text.find("[abi:", at)) {
        const size_t close = text.find(']', at);
        text.erase(at, close == kNone ? kNone : close + 1 - at);
    }
    return text;
}

// Without what stands behind the parameters: "f(int) const [clone .isra.0]" -> "f(int)".
std::string_view up_to_parameters(std::string_view demangled) {
    const size_t clone = demangled.find(" [clone ");
    if (clone != kNone) demangled = demangled.substr(0, clone);
    for (const std::string_view end : {" const", " volatile", " &", " &&"}) {
        if (demangled.ends_with(end))
            return up_to_parameters(demangled.substr(0, demangled.size() - end.size()));
    }
    return demangled;
}

// "ns::f<int>" -> "ns::f"; `operator>` and `operator<<` have no arguments.
std::string_view without_arguments(std::string_view name) {
    if (!name.ends_with('>') || operator_at(name) != name.size()) return name;
    int depth = 0;
    for (size_t i = name.size(); i-- > 0;) {
        if (name[i] == '>') ++depth;
        if (name[i] == '<' && --depth == 0) return name.substr(0, i);
    }
    return name;
}

// `at`, `_ops`, `*`, `call` of "at::_ops::*::call"; what stands in <> or () is no part of it.
std::vector<std::string_view> components(std::string_view pattern) {
    std::vector<std::string_view> found;
    for (size_t begin = 0; begin <= pattern.size();) {
        const size_t end = std::min(pattern.find("::", begin), pattern.size());
        found.push_back(pattern.substr(begin, end - begin));
        if (found.back().find_first_of("<( ") != kNone) return found;
        begin = end + 2;
    }
    return found;
}

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_name_char);
}

// The longest run of a component that stands for itself: "add_" of "add_*".
std::string_view longest_run(std::string_view component) {
    std::string_view longest;
    for (size_t i = 0; i < component.size();) {
        if (component[i] == '[') return longest;  // a set
        size_t end = i;
        while (end < component.size() && is_name_char(component[end])) ++end;
        if (end - i > longest.size()) longest = component.substr(i, end - i);
        i = end + 1;
    }
    return longest;
}

// What the encoding of each match contains: a name stands there with its length. Not so where the
// encoding abbreviates: names of std, constructors, operators.
std::vector<std::string> encoded_parts(std::string_view pattern) {
    std::vector<std::string> parts;
    std::string_view before;
    for (const std::string_view part : components(pattern)) {
        if (part == "std") return {};
        const bool special = part.starts_with(kOperator) || part.starts_with('~') ||
                             part == before || part.find_first_of("<({ ") != kNone;
        before = part;
        if (special) continue;
        if (is_name(part)) {
            parts.push_back(std::to_string(part.size()) + std::string(part));
        } else if (const std::string_view run = longest_run(part); !run.empty()) {
            parts.emplace_back(run);
        }
    }
    return parts;
}

std::string_view without_global(std::string_view pattern) {
    return pattern.starts_with("::") ? pattern.substr(2) : pattern;
}

bool has_parameters(std::string_view pattern) {
    const std::string_view text = up_to_parameters(pattern);
    const size_t open = text.ends_with(')') ? opening(text, text.size() - 1) : kNone;
    return open != kNone && open > 0 && !text.substr(0, open).ends_with(kOperator) &&
           text.substr(open) != "(anonymous namespace)";
}

// Of the bracket that the text begins with; its size where there is none.
size_t closing(std::string_view text) {
    size_t open = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool is_arrow = i > 0 && text[i] == '>' && text[i - 1] == '-';
        if (text[i] == '<' || text[i] == '(') ++open;
        if ((text[i] == '>' && !is_arrow) || text[i] == ')') --open;
        if (open == 0) return i;
    }
    return text.size();
}

}  // namespace

namespace {

std::optional<std::string> demangled(std::string_view encoding) {
    struct Free {
        void operator()(char* memory) const { std::free(memory); }
    };
    int status = 0;
    const std::unique_ptr<char, Free> plain(
        abi::__cxa_demangle(std::string(encoding).c_str(), nullptr, nullptr, &status));
    if (status != 0 || plain == nullptr) return std::nullopt;
    return std::string(plain.get());
}

// "3Odd", "N2at6TensorE", "St13runtime_error": what std::type_info::name() says. Short ones, as "i"
// for int, may be a C function's name.
bool is_type(std::string_view text) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool is_plain = !text.empty() && is_digit(text[0]);
    const bool is_nested = text.starts_with('N') && text.ends_with('E') && text.size() > 2 &&
                           (is_digit(text[1]) || text[1] == 'S');
    const bool is_of_std = text.starts_with("St") && text.size() > 2 && is_digit(text[2]);
    return is_plain || is_nested || is_of_std;
}

}  // namespace

std::optional<std::string> demangled_cxx(std::string_view symbol) {
    return symbol.starts_with("_Z") ? demangled(symbol) : std::nullopt;
}

std::string cxx_qualified_name(std::string_view demangled) {
    const std::string_view text = up_to_parameters(demangled);
    const size_t open = text.ends_with(')') ? opening(text, text.size() - 1) : kNone;
    const bool has_list = open != kNone && open > 0;
    return without_tags(without_result(has_list ? text.substr(0, open) : text));
}

std::string shortened_cxx(std::string_view demangled) {
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    std::string out;
    while (!demangled.empty()) {
        const char first = demangled.front();
        const bool is_operator =
            out.ends_with(kOperator) || (first == '<' && out.ends_with("operator<"));
        const char last = first == '<' ? '>' : ')';
        if (demangled.starts_with(kAnonymous)) {
            out += kAnonymous;
            demangled.remove_prefix(kAnonymous.size());
        } else if ((first != '<' && first != '(') || is_operator) {
            out += first;
            demangled.remove_prefix(1);
        } else {
            const size_t end = closing(demangled);
            out += first;
            if (end > 1) out += "...";
            out += last;
            demangled.remove_prefix(std::min(end + 1, demangled.size()));
        }
    }
    return out;
}

std::optional<std::string> cxx_function_name(std::string_view symbol) {
    if (!is_function_symbol(symbol)) return std::nullopt;
    const std::optional<std::string> demangled = demangled_cxx(symbol);
    if (!demangled) return std::nullopt;
    return cxx_qualified_name(*demangled);
}

bool CxxPattern::is_one(std::string_view pattern) {
    return pattern.find("::") != kNone || pattern.find('(') != kNone;
}

CxxPattern::CxxPattern(std::string_view pattern)
    : text_(without_global(pattern)), literal_(!is_glob(text_)),
      with_parameters_(has_parameters(text_)), parts_(encoded_parts(text_)) {
    if (with_parameters_) text_ = up_to_parameters(text_);
}

bool CxxPattern::may_match(std::string_view symbol) const {
    return std::all_of(parts_.begin(), parts_.end(),
                       [&](const std::string& part) { return symbol.find(part) != kNone; });
}

bool CxxPattern::matches_name(std::string_view name) const {
    if (!literal_) return glob_match(text_, name);
    return name == text_ || (!with_parameters_ && without_arguments(name) == text_);
}

// "r::generic::<u32>" is r::generic, too.
bool CxxPattern::matches_rust(std::string_view name) const {
    if (matches_name(name)) return true;
    std::string_view generic = without_arguments(name);
    if (generic.ends_with("::")) generic.remove_suffix(2);
    return generic.size() != name.size() && matches_name(generic);
}

bool CxxPattern::matches(std::string_view symbol) const {
    if (const auto rust = rust_name(symbol)) return matches_rust(*rust);
    if (!symbol.starts_with("_Z")) {
        return is_one(symbol) && matches_name(without_global(symbol));
    }
    if (!may_match(symbol) || !is_function_symbol(symbol)) return false;
    const std::optional<std::string> demangled = demangled_cxx(symbol);
    if (!demangled) return false;
    if (!with_parameters_) return matches_name(cxx_qualified_name(*demangled));
    return matches_name(without_tags(without_result(up_to_parameters(*demangled))));
}

std::string_view CxxNames::of(std::string_view symbol) {
    const bool is_of_type = is_type(symbol);
    if (!symbol.starts_with("_Z") && !is_of_type) return symbol;
    const std::string key(symbol);
    auto found = names_.find(key);
    if (found == names_.end()) {
        if (names_.size() >= kMaxNames) return symbol;
        const auto name = is_of_type ? demangled(symbol) : cxx_function_name(symbol);
        found = names_.emplace(key, name.value_or(key)).first;
    }
    return found->second;
}

}  // namespace mlbcc
