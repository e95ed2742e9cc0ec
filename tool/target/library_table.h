// From the library of a target to files with functions: `cuda:` is what the `library cuda = ...`
// line says, `"./libx.so":` the file itself. Each library is searched once and each file is read
// once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/rules.h"
#include "target/function_index.h"
#include "target/target.h"
#include "text/diagnostic.h"

namespace mlbcc::target {

// Why a file that was found cannot be traced.
struct FileProblem {
    std::string message, note, help;
};

struct LibraryFile {
    std::string path;
    FunctionIndex index;
    std::optional<FileProblem> problem;
    bool expected = false;  // it stands in for one that is not there yet
};

struct TracedLibrary {
    std::string title;               // `libcuda.so.1`, with its backticks: the name that was found
    std::string soname;              // for UserFunction::soname; "" where each file has its own
    std::vector<LibraryName> names;  // tried in this order
    Variants variants;
    bool no_callbacks = false;
    Span span;              // its `library` line, or the quoted name
    bool required = false;  // a rule that is not `optional` wants it
    bool said = false;      // its absence is worth a word: not all its rules are `unsaid`
    bool awaited = false;   // its one file is an expected one
    std::vector<LibraryFile*> files;
    std::vector<LibraryFile*> unusable;
    LibrarySearch search;  // what became of the names that were not found
};

// UserFunction::soname of what is in this file.
std::string soname_of(const TracedLibrary& library, const LibraryFile& file);

class LibraryTable {
public:
    LibraryTable(const rules::RuleSet& rules, Host& host, Diagnostics& diagnostics)
        : rules_(rules), host_(host), diagnostics_(diagnostics) {}

    // Null where no library has that name: the parser has said so.
    TracedLibrary* use(const rules::FunctionTarget& target, const rules::Rule& rule);
    // Has the absent libraries of `optional` rules stand for those that will come; `targets` are
    // what rules want of them.
    void expect(const std::vector<std::pair<TracedLibrary*, const rules::FunctionTarget*>>& targets,
                const rules::TypeTable& types);
    // One diagnostic for each library that was not found and for each file that cannot be traced.
    void report_problems();
    std::vector<SoughtLibrary> sought() const;

private:
    std::unique_ptr<TracedLibrary> make_quoted(const rules::FunctionTarget& target) const;
    std::unique_ptr<TracedLibrary> make_named(const rules::FunctionTarget& target) const;
    void search(TracedLibrary& library);
    void add_file(TracedLibrary& library, const std::string& path);
    LibraryFile& open(const std::string& path, const std::string& title);
    using Expected = std::pair<TracedLibrary* const, std::set<std::string>>;  // its functions
    void expect_both(const Expected& one, const Expected& other);
    LibraryFile& expect_file(const std::string& title, const std::set<std::string>& functions);

    const rules::RuleSet& rules_;
    Host& host_;
    Diagnostics& diagnostics_;
    std::map<std::string, std::unique_ptr<TracedLibrary>> libraries_;
    std::vector<TracedLibrary*> in_order_;
    std::map<std::string, std::unique_ptr<LibraryFile>> files_;  // by path
};

}  // namespace mlbcc::target
