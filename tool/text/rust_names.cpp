#include "text/rust_names.h"

#include <charconv>

#include <fmt/format.h>

#include "text/rust_printer.h"

namespace mlbcc {

// "_" is 0, "0_" 1, "Z_" 62, "10_" 63
uint64_t RustPrinter::base62() {
    if (take('_')) return 0;
    uint64_t value = 0;
    while (good_ && !take('_')) {
        char c = next();
        uint64_t digit = 0;
        if (c >= '0' && c <= '9')
            digit = static_cast<uint64_t>(c - '0');
        else if (c >= 'a' && c <= 'z')
            digit = static_cast<uint64_t>(c - 'a') + 10;
        else if (c >= 'A' && c <= 'Z')
            digit = static_cast<uint64_t>(c - 'A') + 36;
        else
            fail();
        if (value > (UINT64_MAX - digit) / 62 - 1) fail();
        value = value * 62 + digit;
    }
    return value + 1;
}

uint64_t RustPrinter::decimal() {
    if (take('0')) return 0;
    uint64_t value = 0;
    const char* begin = text_.data() + at_;
    auto [after, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) fail();
    if (good_) at_ += static_cast<size_t>(after - begin);
    return value;
}

RustPrinter::Identifier RustPrinter::plain_identifier() {
    Identifier name;
    name.punycode = take('u');
    uint64_t length = decimal();
    take('_');  // where the name begins with a digit or one itself
    if (!good_ || length > text_.size() - at_) {
        fail();
        return name;
    }
    name.text = text_.substr(at_, length);
    at_ += length;
    return name;
}

RustPrinter::Identifier RustPrinter::identifier() {
    uint64_t disambiguator = optional_base62('s');
    Identifier name = plain_identifier();
    name.disambiguator = disambiguator;
    return name;
}

void RustPrinter::print(const Identifier& name) {
    name.punycode ? print(fmt::format("punycode{{{}}}", name.text)) : print(name.text);
}

void RustPrinter::path(bool in_value) {
    Level level(*this);
    switch (char kind = next(); kind) {
    case 'C': return print(identifier());
    case 'M':
    case 'X':
    case 'Y': return implementation(kind);
    case 'N': return nested(in_value);
    case 'I':
        path(in_value);
        print(in_value ? "::<" : "<");
        list(", ", [this] { generic_argument(); });
        return print(">");
    case 'B': return back_reference([&] { path(in_value); });
    default: fail();
    }
}

// <T>, <T as Trait>; of an implementation where it stands, too, which is not shown.
void RustPrinter::implementation(char kind) {
    if (kind != 'Y') {
        optional_base62('s');
        silently([this] { path(false); });
    }
    print("<");
    type();
    if (kind != 'M') {
        print(" as ");
        path(false);
    }
    print(">");
}

// a::b, or what has no name of its own: a::{closure#0}
void RustPrinter::nested(bool in_value) {
    char space = next();
    path(in_value);
    Identifier name = identifier();
    if (space >= 'a' && space <= 'z') {
        if (name.text.empty()) return;
        print("::");
        return print(name);
    }
    if (space < 'A' || space > 'Z') return fail();
    print("::{");
    print(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string_view(&space, 1));
    if (!name.text.empty()) {
        print(":");
        print(name);
    }
    print(fmt::format("#{}}}", name.disambiguator));
}

std::optional<std::string> rust_name(std::string_view name) {
    if (!name.starts_with("_R")) return std::nullopt;
    return RustPrinter(name.substr(2)).print();
}

std::optional<std::string> any_rust_name(std::string_view name) {
    return name.starts_with("_R") ? rust_name(name) : legacy_rust_name(name);
}

}  // namespace mlbcc
