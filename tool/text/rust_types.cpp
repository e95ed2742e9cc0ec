// Types and constants in the names of RFC 2603.
#include <charconv>

#include <fmt/format.h>

#include "text/rust_printer.h"

namespace mlbcc {
namespace {

std::string_view basic_type(char c) {
    constexpr std::string_view kNames[] = {"i8",   "bool",  "char",  "f64", "str", "f32", "",
                                           "u8",   "isize", "usize", "",    "i32", "u32", "i128",
                                           "u128", "_",     "",      "",    "i16", "u16", "()",
                                           "...",  "",      "i64",   "u64", "!"};
    return c >= 'a' && c <= 'z' ? kNames[c - 'a'] : std::string_view();
}

}  // namespace

template <class Body> void RustPrinter::binder(Body&& body) {
    uint64_t count = optional_base62('G');
    if (count > 64) return fail();
    for (uint64_t i = 0; i < count; ++i) {
        print(i == 0 ? "for<" : ", ");
        ++lifetimes_;
        lifetime(1);
    }
    if (count > 0) print("> ");
    body();
    lifetimes_ -= count;
}

void RustPrinter::generic_argument() {
    if (take('L')) return lifetime(base62());
    if (take('K')) return constant();
    type();
}

void RustPrinter::type() {
    Level level(*this);
    char kind = peek();
    if (std::string_view name = basic_type(kind); !name.empty()) {
        ++at_;
        return print(name);
    }
    if (std::string_view("CMXYNI").find(kind) != std::string_view::npos) return path(false);
    compound_type(next());
}

void RustPrinter::compound_type(char kind) {
    switch (kind) {
    case 'R': return reference(false);
    case 'Q': return reference(true);
    case 'P': print("*const "); return type();
    case 'O': print("*mut "); return type();
    case 'A':
    case 'S':
        print("[");
        type();
        if (kind == 'A') {
            print("; ");
            constant();
        }
        return print("]");
    case 'T':
        print("(");
        if (list(", ", [this] { type(); }) == 1) print(",");
        return print(")");
    case 'F': return binder([this] { function_type(); });
    case 'D': return dyn_type();
    case 'B': return back_reference([this] { type(); });
    default: fail();
    }
}

void RustPrinter::reference(bool is_mutable) {
    print("&");
    uint64_t index = take('L') ? base62() : 0;
    if (index != 0) {
        lifetime(index);
        print(" ");
    }
    if (is_mutable) print("mut ");
    type();
}

// unsafe extern "C" fn(i32) -> i32
void RustPrinter::function_type() {
    if (take('U')) print("unsafe ");
    if (take('K')) {
        std::string abi = take('C') ? "C" : std::string(plain_identifier().text);
        for (char& c : abi) c = c == '_' ? '-' : c;
        print(fmt::format("extern \"{}\" ", abi));
    }
    print("fn(");
    list(", ", [this] { type(); });
    print(")");
    if (take('u')) return;
    print(" -> ");
    type();
}

void RustPrinter::dyn_type() {
    print("dyn ");
    binder([this] { list(" + ", [this] { dyn_trait(); }); });
    if (!take('L')) return fail();
    if (uint64_t index = base62(); index != 0) {
        print(" + ");
        lifetime(index);
    }
}

// Iterator<Item = u8>
void RustPrinter::dyn_trait() {
    bool open = path_with_open_generics();
    while (take('p')) {
        print(open ? ", " : "<");
        open = true;
        print(plain_identifier());
        print(" = ");
        type();
    }
    if (open) print(">");
}

// Returns whether it ends in generic arguments without the ">".
bool RustPrinter::path_with_open_generics() {
    Level level(*this);
    if (take('B')) {
        bool open = false;
        back_reference([&] { open = path_with_open_generics(); });
        return open;
    }
    if (!take('I')) {
        path(false);
        return false;
    }
    path(false);
    print("<");
    list(", ", [this] { generic_argument(); });
    return true;
}

// 0 is one that was not named; others are counted from the innermost binder.
void RustPrinter::lifetime(uint64_t index) {
    if (index == 0) return print("'_");
    if (index > lifetimes_) return fail();
    uint64_t depth = lifetimes_ - index;
    print(depth < 26 ? fmt::format("'{}", static_cast<char>('a' + depth))
                     : fmt::format("'_{}", depth));
}

void RustPrinter::constant() {
    Level level(*this);
    switch (next()) {
    case 'p': return print("_");
    case 'h':
    case 't':
    case 'm':
    case 'y':
    case 'o':
    case 'j': return integer(false);
    case 'a':
    case 's':
    case 'l':
    case 'x':
    case 'n':
    case 'i': return integer(true);
    case 'b':
        return print(take('0') && take('_')   ? "false"
                     : take('1') && take('_') ? "true"
                                              : (fail(), ""));
    case 'c': return character();
    case 'B': return back_reference([this] { constant(); });
    default: fail();
    }
}

// "n1f_" -> -31
void RustPrinter::integer(bool is_signed) {
    if (is_signed && take('n')) print("-");
    size_t end = text_.find('_', at_);
    if (!good_ || end == text_.npos) return fail();
    std::string_view digits = text_.substr(at_, end - at_);
    if (digits.find_first_not_of("0123456789abcdef") != digits.npos) return fail();
    at_ = end + 1;
    if (digits.size() > 16) return print(fmt::format("0x{}", digits));
    uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    print(std::to_string(value));
}

void RustPrinter::character() {
    size_t end = text_.find('_', at_);
    if (!good_ || end == text_.npos) return fail();
    unsigned code = 0;
    auto [after, error] = std::from_chars(text_.data() + at_, text_.data() + end, code, 16);
    if (error != std::errc() || after != text_.data() + end) return fail();
    at_ = end + 1;
    bool is_plain = code >= ' ' && code < 0x7f && code != '\'' && code != '\\';
    print(is_plain ? fmt::format("'{}'", static_cast<char>(code))
                   : fmt::format("'\\u{{{:x}}}'", code));
}

}  // namespace mlbcc
