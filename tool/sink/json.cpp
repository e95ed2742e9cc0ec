#include "sink/json.h"

#include <array>
#include <bit>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "event/pipeline.h"
#include "sink/sink.h"
#include "text/utf8.h"

namespace mlbcc::sink {
namespace {

constexpr uint64_t kExact = uint64_t{1} << 53;  // a double holds every integer up to here

// 0: stands for itself; 'u': as \u00XX; '8': begins or continues a UTF-8 sequence; else the letter
// behind the backslash.
constexpr std::array<char, 256> kEscapes = [] {
    std::array<char, 256> table{};
    for (size_t c = 0; c < 0x20; ++c) table[c] = 'u';
    for (size_t c = 0x80; c < 0x100; ++c) table[c] = '8';
    table['"'] = '"';
    table['\\'] = '\\';
    table['\b'] = 'b';
    table['\f'] = 'f';
    table['\n'] = 'n';
    table['\r'] = 'r';
    table['\t'] = 't';
    return table;
}();

void write_byte(Buffer& out, unsigned char byte) {
    constexpr char kDigits[] = "0123456789abcdef";
    const char text[] = {'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]};
    out.append(std::string_view(text, sizeof text));
}

// Writes what `text` begins with, a character that does not stand for itself; gives its length.
size_t write_special(Buffer& out, std::string_view text) {
    auto first = static_cast<unsigned char>(text[0]);
    char escape = kEscapes[first];
    size_t length = escape == '8' ? utf8_length(text) : 0;
    if (length > 0) {
        out.append(text.substr(0, length));
        return length;
    }
    if (escape == '8' || escape == 'u') {
        write_byte(out, first);
    } else {
        out.append('\\');
        out.append(escape);
    }
    return 1;
}

// The shortest digits that mean this number; JSON has no infinite ones, nor what is no number.
void write_floating(Buffer& out, uint64_t bits, uint8_t size) {
    std::string digits;
    bool is_finite = true;
    const auto show = [&](auto number) {
        digits = fmt::format("{}", number);
        is_finite = std::isfinite(number);
    };
    size == 4 ? show(std::bit_cast<float>(static_cast<uint32_t>(bits)))
              : show(std::bit_cast<double>(bits));
    is_finite ? out.append(digits) : write_text(out, digits);
}

void write_number(Buffer& out, const event::Value& value) {
    using Kind = plan::ValueType::Kind;
    switch (value.type->kind) {
    case Kind::signed_int: return write_signed(out, static_cast<int64_t>(value.bits));
    case Kind::unsigned_int: return write_unsigned(out, value.bits);
    case Kind::hex:
        out.append('"');
        out.hex(value.bits);
        return out.append('"');
    case Kind::boolean: return out.append(value.bits != 0 ? "true" : "false");
    case Kind::enumeration:
        if (!value.text.empty()) return write_text(out, value.text);
        if (!value.type->hex_unnamed) {
            return write_signed(out, static_cast<int64_t>(value.bits));
        }
        out.append('"');
        out.hex(value.bits);
        return out.append('"');
    case Kind::character: {
        char c = static_cast<char>(value.bits);
        return write_text(out, {&c, 1});
    }
    case Kind::floating: return write_floating(out, value.bits, value.type->size);
    case Kind::text:
    case Kind::comm:
    case Kind::function:
    case Kind::symbol: return write_text(out, value.text);
    case Kind::list: return write_array(out, value.list, write_value);
    }
}

}  // namespace

void write_text(Buffer& out, std::string_view text) {
    out.append('"');
    size_t done = 0;
    for (size_t i = 0; i < text.size();) {
        if (kEscapes[static_cast<unsigned char>(text[i])] == 0) {
            ++i;
            continue;
        }
        out.append(text.substr(done, i - done));
        i += write_special(out, text.substr(i));
        done = i;
    }
    out.append(text.substr(done));
    out.append('"');
}

void write_unsigned(Buffer& out, uint64_t value) {
    bool exact = value <= kExact;
    if (!exact) out.append('"');
    out.number(value);
    if (!exact) out.append('"');
}

void write_signed(Buffer& out, int64_t value) {
    bool exact = value <= static_cast<int64_t>(kExact) && value >= -static_cast<int64_t>(kExact);
    if (!exact) out.append('"');
    out.signed_number(value);
    if (!exact) out.append('"');
}

void write_value(Buffer& out, const event::Value& value) {
    if (value.unread) return out.append("null");
    if (value.stack != nullptr) return write_array(out, value.stack->frames, write_text);
    if (value.learnt) return write_text(out, value.text);
    write_number(out, value);
}

std::string quoted(std::string_view text) {
    Buffer out(text.size() + 16);
    write_text(out, text);
    return std::string(out.view());
}

std::string_view without_quotes(std::string_view json) {
    const bool is_text = json.size() >= 2 && json.front() == '"';
    return is_text ? json.substr(1, json.size() - 2) : json;
}

std::string plain_text(std::string_view json) {
    std::string out(without_quotes(json));
    if (out.size() == json.size()) return out;
    size_t to = 0;
    for (size_t i = 0; i < out.size(); ++i) {
        const bool is_escape = out[i] == '\\' && i + 1 < out.size();
        if (is_escape && (out[i + 1] == '"' || out[i + 1] == '\\')) ++i;
        out[to++] = out[i];
    }
    out.resize(to);
    return out;
}

std::string json_text(const event::Value& value) {
    Buffer out(64);
    write_value(out, value);
    return std::string(out.view());
}

}  // namespace mlbcc::sink
