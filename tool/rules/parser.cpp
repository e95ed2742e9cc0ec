// Rule files and what they import.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "rules/parser.h"

namespace mlbcc::rules {

namespace {

constexpr size_t kMaxImports = 64;  // files that import each other in a chain
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

class Reader {
public:
    Reader(const LoadFile& load, RuleSet& rules, Diagnostics& diagnostics)
        : load_(load), rules_(rules), diagnostics_(diagnostics) {}

    // `place` is the string that names the file, no place for one of the command line.
    void read(std::string_view name, std::string_view directory, Span place, bool optional);
    void check_libraries();
    void check_titles();
    void mark_optional();

private:
    struct OpenFile {
        std::string identity, path;
    };
    // Without `optional`; both are identities, `by` is "" for the command line.
    struct Import {
        std::string by, of;
    };
    void fail(const Error& error, Span place);
    void report_cycle(const LoadedFile& loaded, Span place);
    void parse_text(LoadedFile loaded);
    void unknown_library(const FunctionTarget& target);

    const LoadFile& load_;
    RuleSet& rules_;
    Diagnostics& diagnostics_;
    std::vector<OpenFile> open_;  // each imports the next
    std::vector<Import> needed_;
    bool incomplete_ = false;  // a file is missing, and what it defines
};

void Reader::fail(const Error& error, Span place) {
    incomplete_ = true;
    Diagnostic& diagnostic = diagnostics_.error(place, error.message());
    if (!error.help.empty()) diagnostic.help(error.help);
}

void Reader::read(std::string_view name, std::string_view directory, Span place, bool optional) {
    if (open_.size() >= kMaxImports) {
        return fail(
            Error{fmt::format("more than {} files import each other in a chain", kMaxImports)},
            place);
    }
    auto loaded = load_(name, directory);
    if (!loaded) return fail(loaded.error(), place);
    bool is_open = std::any_of(open_.begin(), open_.end(), [&](const OpenFile& file) {
        return file.identity == loaded->identity;
    });
    if (is_open) return report_cycle(*loaded, place);
    if (!optional)
        needed_.push_back({open_.empty() ? "" : open_.back().identity, loaded->identity});
    auto& known = rules_.identities;
    if (std::find(known.begin(), known.end(), loaded->identity) != known.end()) return;
    if (auto error = check_text(loaded->path, loaded->text)) return fail(*error, place);
    parse_text(std::move(*loaded));
}

void Reader::report_cycle(const LoadedFile& loaded, Span place) {
    auto first = std::find_if(open_.begin(), open_.end(), [&](const OpenFile& file) {
        return file.identity == loaded.identity;
    });
    std::string chain;
    for (auto file = first; file != open_.end(); ++file)
        chain += fmt::format("`{}` imports ", file->path);
    diagnostics_.error(place, fmt::format("`{}` imports itself", first->path))
        .note(fmt::format("{}`{}`", chain, loaded.path))
        .help("remove one of these imports");
}

void Reader::parse_text(LoadedFile loaded) {
    if (loaded.text.starts_with(kByteOrderMark)) loaded.text.erase(0, kByteOrderMark.size());
    open_.push_back({loaded.identity, loaded.path});
    rules_.identities.push_back(std::move(loaded.identity));
    rules_.files.push_back(
        std::make_unique<SourceFile>(std::move(loaded.path), std::move(loaded.text)));
    const SourceFile& file = *rules_.files.back();
    warn_of_directives(file, diagnostics_);
    Cursor cursor(file, diagnostics_);
    auto import = [&](const std::string& name, Span span, bool optional) {
        read(name, loaded.directory, span, optional);
    };
    FileParser parser(loaded.directory, rules_, import);
    parser.parse(cursor);
    for (Cast& cast : cursor.take_casts()) rules_.casts.push_back(std::move(cast));
    open_.pop_back();
}

void Reader::check_libraries() {
    if (incomplete_) return;
    for (const Rule& rule : rules_.rules) {
        for (const Target& target : rule.targets) {
            const auto* function = std::get_if<FunctionTarget>(&target.node);
            if (function == nullptr || function->quoted) continue;
            bool known = std::any_of(rules_.libraries.begin(), rules_.libraries.end(),
                                     [&](const Library& l) { return l.name == function->library; });
            if (!known) unknown_library(*function);
        }
    }
}

// Of files that the command line reaches by no other way than over an `import optional`.
void Reader::mark_optional() {
    std::set<std::string_view> needed{""};
    for (size_t known = 0; known != needed.size();) {
        known = needed.size();
        for (const Import& one : needed_) {
            if (needed.contains(one.by)) needed.insert(one.of);
        }
    }
    for (Rule& rule : rules_.rules) {
        auto file =
            std::ranges::find(rules_.files, rule.span.file, &std::unique_ptr<SourceFile>::get);
        if (needed.contains(rules_.identities.at(static_cast<size_t>(file - rules_.files.begin()))))
            continue;
        rule.optional = rule.unsaid = true;
    }
}

// Two lists of one title could not be told apart.
void Reader::check_titles() {
    std::map<std::string_view, Span> titles;
    for (const Rule& rule : rules_.rules) {
        for (const Clause& clause : rule.clauses) {
            const auto* largest = std::get_if<LargestClause>(&clause.node);
            if (largest == nullptr || largest->title.empty()) continue;
            auto [first, is_new] = titles.try_emplace(largest->title, clause.span);
            if (is_new) continue;
            diagnostics_
                .error(clause.span, fmt::format("there are two lists \"{}\"", largest->title))
                .at("the first is here", first->second.where())
                .help("give one of them another title");
        }
    }
}

void Reader::unknown_library(const FunctionTarget& target) {
    auto& error =
        diagnostics_
            .error(target.library_span, fmt::format("there is no library `{}`", target.library))
            .labelled("not known here");
    std::vector<std::string> names;
    for (const Library& library : rules_.libraries) names.push_back(library.name);
    if (auto closest = closest_name(target.library, names)) {
        error.help(fmt::format("a library with a similar name exists: `{}`", *closest));
    } else {
        error.help(fmt::format("define it: `library {0} = \"lib{0}.so\"`", target.library));
    }
}

}  // namespace

size_t written_rules(const RuleSet& rules) {
    return static_cast<size_t>(std::ranges::count(rules.rules, false, &Rule::again));
}

RuleSet parse(std::span<const std::string> names, const LoadFile& load, Diagnostics& diagnostics,
              ParseContext context) {
    RuleSet rules;
    rules.definitions = std::move(context.definitions);
    rules.keep_mangled = context.keep_mangled;
    Reader reader(load, rules, diagnostics);
    for (const std::string& name : names) reader.read(name, "", {}, false);
    reader.check_libraries();
    reader.check_titles();
    reader.mark_optional();
    expand_lists(rules);
    return rules;
}

RuleSet parse(std::string_view name, const LoadFile& load, Diagnostics& diagnostics) {
    std::string owned(name);
    return parse(std::span(&owned, 1), load, diagnostics);
}

}  // namespace mlbcc::rules
