// Any bytes as a rule file: never a crash, and what is kept is sound enough to be printed.
#include <cstddef>
#include <cstdint>
#include <string>

#include "rules/rules.h"

using namespace mlbcc;

namespace {

// The text is every file: one that imports anything but itself is read once more under that name.
rules::LoadFile load_from(const std::string& text) {
    return [&text](std::string_view name, std::string_view) -> Result<rules::LoadedFile> {
        std::string path(name);
        if (path.size() > 8) return Error{"cannot open " + path, ENOENT};
        return rules::LoadedFile{path, path, "", text};
    };
}

void check_spans(const rules::RuleSet& rules) {
    for (const rules::Rule& rule : rules.rules) {
        MLBCC_CHECK(rule.span.begin < rule.span.end);
        MLBCC_CHECK(rule.span.end <= rule.span.file->text().size());
        MLBCC_CHECK(rule.span.begin <= rule.head_span.begin);
        MLBCC_CHECK(rule.head_span.end <= rule.span.end);
        for (const rules::Clause& clause : rule.clauses) {
            MLBCC_CHECK(rule.span.begin < clause.span.begin && clause.span.end <= rule.span.end);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string text(reinterpret_cast<const char*>(data), size);
    rules::RuleSet rules;
    Diagnostics diagnostics;
    rules::parse("main", load_from(text), rules, diagnostics);
    check_spans(rules);
    MLBCC_CHECK(diagnostics.all().empty() == diagnostics.render().empty());
    for (const rules::Declaration& declaration : rules.declarations) {
        MLBCC_CHECK(declaration.text.size() == declaration.span.text().size());
    }
    rules::declarations_text(rules);
    return 0;
}
