// Reads a name of RFC 2603 and prints it as it goes; see rust_names.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mlbcc {

// Recursive descent over the grammar of RFC 2603, printing as it goes. After a mistake, `good` is
// false and what is read is the end.
class RustPrinter {
public:
    static constexpr int kMaxDepth = 256;
    static constexpr size_t kMaxText = 8192;  // a back reference may stand for a lot, repeatedly

    explicit RustPrinter(std::string_view text) : text_(text) {}

    // The path behind "_R"; there may follow the crate that it was made in, and a suffix.
    std::optional<std::string> print() {
        path(true);
        if (good_ && peek() >= 'A' && peek() <= 'Z') silently([this] { path(false); });
        bool at_end = at_ == text_.size() || text_[at_] == '.' || text_[at_] == '$';
        return good_ && at_end && !out_.empty() ? std::optional(std::move(out_)) : std::nullopt;
    }

private:
    struct Identifier {
        std::string_view text;
        bool punycode = false;
        uint64_t disambiguator = 0;
    };
    // One level down; what does not fit is a mistake.
    class Level {
    public:
        explicit Level(RustPrinter& printer) : printer_(printer) {
            if (++printer_.depth_ > kMaxDepth) printer_.fail();
        }
        ~Level() { --printer_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

    private:
        RustPrinter& printer_;
    };

    void fail() { good_ = false; }
    char peek() const { return good_ && at_ < text_.size() ? text_[at_] : '\0'; }
    char next() {
        char c = peek();
        c == '\0' ? fail() : void(++at_);
        return c;
    }
    bool take(char c) {
        bool is_there = peek() == c;
        at_ += is_there ? 1 : 0;
        return is_there;
    }
    void print(std::string_view text) {
        if (silent_) return;
        if (out_.size() + text.size() > kMaxText) return fail();
        out_ += text;
    }
    template <class Do> void silently(Do&& what) {
        bool before = silent_;
        silent_ = true;
        what();
        silent_ = before;
    }
    // Until the E, which is taken. Returns how many there were.
    template <class Item> size_t list(std::string_view separator, Item&& item) {
        size_t count = 0;
        while (good_ && !take('E')) {
            if (count++ > 0) print(separator);
            item();
        }
        return count;
    }

    uint64_t base62();
    uint64_t optional_base62(char tag) { return take(tag) ? base62() + 1 : 0; }
    uint64_t decimal();
    Identifier plain_identifier();
    Identifier identifier();
    void print(const Identifier& name);
    template <class Read> void back_reference(Read&& read);

    void path(bool in_value);
    bool path_with_open_generics();
    void implementation(char kind);
    void nested(bool in_value);
    void generic_argument();
    void type();
    void compound_type(char kind);
    void reference(bool is_mutable);
    void function_type();
    void dyn_type();
    void dyn_trait();
    void lifetime(uint64_t index);
    template <class Body> void binder(Body&& body);
    void constant();
    void integer(bool is_signed);
    void character();

    std::string_view text_;  // behind "_R"
    size_t at_ = 0;
    std::string out_;
    bool good_ = true, silent_ = false;
    int depth_ = 0;
    uint64_t lifetimes_ = 0;  // bound around here
};

// To what stands earlier in the text.
template <class Read> void RustPrinter::back_reference(Read&& read) {
    size_t from = at_ - 1;
    uint64_t to = base62();
    if (!good_ || to >= from) return fail();
    if (silent_) return;
    size_t behind = at_;
    at_ = to;
    read();
    at_ = behind;
}

}  // namespace mlbcc
