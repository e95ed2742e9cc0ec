// The statements of a file, and what stands where one should.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

const std::array<std::string, 6> kStatements{"on",     "library", "functions",
                                             "header", "import",  "set"};

// Does `word`, as the first of a statement, go together with what follows it?
bool can_begin(std::string_view word, const Token& behind) {
    bool is_name = behind.kind == TokenKind::name, is_string = behind.kind == TokenKind::string;
    if (word == "on") return is_name || is_string;
    if (word == "library" || word == "functions" || word == "set") return is_name;
    if (word == "import") return is_string || behind.is_word("optional");
    return word == "header" && is_string;
}

bool is_statement(Cursor& cursor) {
    if (!cursor.at(TokenKind::name)) return false;
    std::string_view word = cursor.token().text();
    bool known = std::find(kStatements.begin(), kStatements.end(), word) != kStatements.end();
    return known && can_begin(word, cursor.peek());
}

// To the next line: whatever is wrong with a statement is rarely more than a line of it.
void skip_line(Cursor& cursor) {
    while (!cursor.at(TokenKind::end) && !cursor.token().first_on_line) {
        if (cursor.at(TokenKind::left_brace)) {
            skip_braces(cursor);
        } else {
            cursor.take();
        }
    }
}

// A suffix may be any name, but a name that begins a line is most likely the next declaration.
constexpr std::string_view kNoCallbacks = "no_callbacks";

bool is_variant(Cursor& cursor) {
    if (!cursor.at(TokenKind::name) || is_statement(cursor)) return false;
    if (cursor.token().text() == kNoCallbacks) return false;
    if (!cursor.token().first_on_line) return true;
    std::string_view word = cursor.token().text();
    return word.starts_with('_') && !word.starts_with("__") && word != "_Bool" &&
           word != "_Noreturn";
}

bool is_relative(const std::string& file) {
    return file.find('/') != std::string::npos && !file.starts_with('/');
}

// Do both lines mean the same, so that a file imported by two others may define a library?
bool is_same(const Library& a, const Library& b) {
    if (a.files != b.files || a.variants != b.variants) return false;
    bool relative = std::any_of(a.files.begin(), a.files.end(), is_relative);
    return !relative || a.directory == b.directory;
}

}  // namespace

bool begins_statement(Cursor& cursor) {
    return cursor.token().first_on_line && is_statement(cursor);
}

void FileParser::parse(Cursor& cursor) {
    while (!cursor.at(TokenKind::end) && !cursor.is_rubbish()) statement(cursor);
}

void FileParser::statement(Cursor& cursor) {
    uint32_t begin = cursor.begin();
    if (cursor.at(TokenKind::name)) {
        std::string word(cursor.token().text());
        bool known = std::find(kStatements.begin(), kStatements.end(), word) != kStatements.end();
        return known ? keyword(cursor, word, begin) : declaration(cursor);
    }
    auto& error = cursor.unexpected("a statement");
    if (cursor.at(TokenKind::right_brace)) error.labelled("closes nothing");
    if (cursor.at(TokenKind::semicolon)) error.help("remove it: only C declarations end with `;`");
    cursor.take();
    skip_line(cursor);
}

void FileParser::keyword(Cursor& cursor, std::string_view word, uint32_t begin) {
    cursor.take();
    if (word == "on") return parse_rule(cursor, begin, rules_);
    bool right = word == "import"      ? import(cursor)
                 : word == "header"    ? header(cursor, begin)
                 : word == "functions" ? functions(cursor, begin)
                 : word == "set"       ? set(cursor, begin)
                                       : library(cursor, begin);
    if (!right) skip_line(cursor);
}

// [optional] "FILE"
bool FileParser::import(Cursor& cursor) {
    const bool optional = cursor.accept_word("optional");
    auto name = cursor.expect_string("the name of a rule file in quotes");
    if (!name) return false;
    import_file_(*name, cursor.last().span, optional);
    return true;
}

bool FileParser::header(Cursor& cursor, uint32_t begin) {
    Header header;
    header.directory = directory_;
    do {
        auto file = cursor.expect_string("the name of a C header in quotes");
        if (!file) return false;
        header.files.push_back(std::move(*file));
    } while (cursor.accept(TokenKind::comma));
    header.span = cursor.since(begin);
    rules_.headers.push_back(std::move(header));
    return true;
}

// A library with a mistake is added all the same: its rules have none.
bool FileParser::library(Cursor& cursor, uint32_t begin) {
    Library library;
    library.directory = directory_;
    auto name = cursor.expect_name("the name of a library");
    if (!name) return false;
    library.name = std::move(*name);
    Span name_span = cursor.last().span;
    bool right = library_files(cursor, library);
    library.span = cursor.since(begin);
    if (!is_target_kind(library.name, rules_)) {
        add_library(cursor, std::move(library));
    } else {
        cursor.error(name_span, fmt::format("`{}` cannot be the name of a library", library.name))
            .labelled("the name of a kind of target")
            .help("give it another name: only this file uses it");
    }
    return right;
}

// = "libcuda.so.1", "libcuda.so" variants _v2 _ptsz no_callbacks
bool FileParser::library_files(Cursor& cursor, Library& library) {
    if (!cursor.expect(TokenKind::assign, fmt::format("`=` after `{}`", library.name)))
        return false;
    do {
        auto file = cursor.expect_string("the name of a library file in quotes");
        if (!file) return false;
        library.files.push_back(std::move(*file));
    } while (cursor.accept(TokenKind::comma));
    library.no_callbacks = cursor.accept_word(kNoCallbacks);
    if (!cursor.accept_word("variants")) return true;
    while (is_variant(cursor)) library.variants.emplace_back(cursor.take().text());
    if (library.variants.empty()) cursor.unexpected("a suffix of names, such as `_v2`");
    library.no_callbacks |= cursor.accept_word(kNoCallbacks);
    return !library.variants.empty();
}

void FileParser::add_library(Cursor& cursor, Library library) {
    for (Library& other : rules_.libraries) {
        if (other.name != library.name) continue;
        if (is_same(other, library)) {
            other.no_callbacks |= library.no_callbacks;  // whoever says so knows it
            return;
        }
        cursor.error(library.span, fmt::format("the library `{}` is defined twice", library.name))
            .at("the other definition is here", other.span.where())
            .help("give one of them another name, or make them equal");
        return;
    }
    rules_.libraries.push_back(std::move(library));
}

// NAME = cuda:cuLaunchKernel*, cuda:cuGraphLaunch, syscall:read
bool FileParser::set(Cursor& cursor, uint32_t begin) {
    TargetSet set;
    auto name = cursor.expect_name("the name of a set of targets");
    if (!name || !cursor.expect(TokenKind::assign, fmt::format("`=` after `{}`", *name)))
        return false;
    set.name = std::move(*name);
    Rule targets;
    do {
        if (!parse_target(cursor, rules_, targets)) return false;
    } while (cursor.accept(TokenKind::comma));
    set.targets = std::move(targets.targets);
    set.span = cursor.since(begin);
    const auto same = std::ranges::find(rules_.sets, set.name, &TargetSet::name);
    if (same == rules_.sets.end()) {
        rules_.sets.push_back(std::move(set));
    } else {
        cursor.error(set.span, fmt::format("the set `{}` is defined twice", set.name))
            .at("here", same->span.where());
    }
    return true;
}

// NAME = cuCtxGet*, cuDeviceGet* [as "calls that only ask"]
bool FileParser::functions(Cursor& cursor, uint32_t begin) {
    FunctionList list;
    auto name = cursor.expect_name("the name of a list of functions");
    if (!name) return false;
    list.name = std::move(*name);
    Span name_span = cursor.last().span;
    if (!cursor.expect(TokenKind::assign, fmt::format("`=` after `{}`", list.name))) return false;
    do {
        auto glob = cursor.expect_glob("a name or pattern of functions");
        if (!glob) return false;
        list.patterns.push_back({glob->characters(), glob->span, std::nullopt});
    } while (cursor.accept(TokenKind::comma));
    if (cursor.accept_word("as")) {
        auto said = cursor.expect_string("a description of these functions in quotes");
        if (!said) return false;
        list.said = std::move(*said);
    }
    list.span = cursor.since(begin);
    add_list(cursor, std::move(list), name_span);
    return true;
}

void FileParser::add_list(Cursor& cursor, FunctionList list, Span name) {
    auto known = std::ranges::find(rules_.lists, list.name, &FunctionList::name);
    if (known == rules_.lists.end()) {
        rules_.lists.push_back(std::move(list));
        return;
    }
    cursor.error(name, fmt::format("there are two lists `{}`", list.name))
        .at("the first is here", known->span.where())
        .help("give one of them another name");
}

void FileParser::declaration(Cursor& cursor) {
    uint32_t begin = cursor.begin();
    DeclarationEnd end = scan_declaration(cursor);
    Span span = cursor.since(begin);
    switch (end) {
    case DeclarationEnd::complete:
        rules_.declarations.push_back({declaration_text(span), span});
        return;
    case DeclarationEnd::body:
        cursor.error(span, "a function with its code cannot stand in a rule file")
            .help("end the prototype with `;`");
        return skip_braces(cursor);
    case DeclarationEnd::broken: return no_declaration(cursor, begin);
    }
}

// A text that begins with a name and is no C: most likely a slip in what should be a statement.
void FileParser::no_declaration(Cursor& cursor, uint32_t begin) {
    uint32_t stop = cursor.begin();
    cursor.rewind(begin);
    Token first = cursor.token();
    Token behind = cursor.peek();
    auto closest = closest_name(first.text(), kStatements);
    if (closest && can_begin(*closest, behind)) {
        cursor.error(first.span, fmt::format("`{}` is not a statement", first.text()))
            .help(fmt::format("a statement with a similar name exists: `{}`", *closest));
        return keyword(cursor, *closest, begin);
    }
    if (behind.kind == TokenKind::colon) {
        cursor.error(first.span, "a rule begins with `on`")
            .help(fmt::format("write `on {}:`", first.text()));
        return parse_rule(cursor, begin, rules_);
    }
    if (is_clause_word(first.text())) {
        cursor.error(first.span, fmt::format("`{}` stands outside of a rule", first.text()))
            .help("put it between the `{` and the `}` of a rule");
        cursor.take();
    } else {
        cursor.rewind(stop);
        cursor.unexpected("a C declaration that ends with `;`")
            .at("it begins here", first.span.where())
            .note("the other statements begin with `on`, `library`, `functions`, `header` or "
                  "`import`");
    }
    skip_line(cursor);
}

}  // namespace mlbcc::rules
