// The messages about names of functions, with what the library has instead.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "target/messages.h"
#include "text/cxx_names.h"
#include "text/glob.h"

namespace mlbcc::target {

namespace {

constexpr size_t kShownFiles = 4;

void note_where_looked(const TracedLibrary& library, Diagnostic& problem) {
    const size_t shown = std::min(library.files.size(), kShownFiles);
    for (size_t i = 0; i < shown; i++) {
        const LibraryFile& file = *library.files[i];
        const size_t count = file.index.size();
        if (count == 0) {
            problem.note(fmt::format("{} has no function symbols: it is stripped", file.path));
        } else if (count == 1) {
            problem.note(fmt::format("searched the 1 function of {}", file.path));
        } else {
            problem.note(fmt::format("searched the {} functions of {}", count, file.path));
        }
    }
    if (library.files.size() > shown) {
        problem.note(fmt::format("and in {} more files", library.files.size() - shown));
    }
}

// Names that are worth a comparison with `name`: closest_name() takes none that differ by more than
// a third of its length.
std::vector<std::string> candidates(std::string_view name, const TracedLibrary& library) {
    std::vector<std::string> found;
    const size_t slack = name.size() / 3 + 1;
    const auto consider = [&](std::string_view candidate) {
        const size_t longer = std::max(candidate.size(), name.size());
        if (longer - std::min(candidate.size(), name.size()) > slack) return;
        if (found.empty() || found.back() != candidate) found.emplace_back(candidate);
    };
    for (const LibraryFile* file : library.files) {
        for (const Symbol& symbol : file->index.functions()) {
            consider(base_of(symbol.name, library.variants));
            consider(symbol.name);
        }
    }
    return found;
}

// The highest form of a base name that the library has: cuMemAlloc -> cuMemAlloc_v2.
std::optional<std::string> highest_form(std::string_view base, const TracedLibrary& library) {
    std::optional<std::string> highest;
    const NamePattern pattern(base, library.variants);
    for (const LibraryFile* file : library.files) {
        for (const SymbolId id : file->index.matching(pattern)) {
            const std::string& name = file->index[id].name;
            if (!highest || is_higher_form(name, *highest)) highest = name;
        }
    }
    return highest;
}

void help_with_form(const std::string& form, std::string_view base, Diagnostic& problem) {
    problem.help(fmt::format("the library has {}, which {} matches", quoted(form), quoted(base)));
}

void help_with_name(const std::string& pattern, const TracedLibrary& library, Diagnostic& problem) {
    const std::string_view base = base_of(pattern, library.variants);
    if (base.size() != pattern.size()) {
        if (const auto form = highest_form(base, library)) {
            return help_with_form(*form, base, problem);
        }
    }
    const auto name = closest_name(pattern, candidates(pattern, library));
    if (!name) return;
    const auto form = highest_form(*name, library);
    if (form && *form != *name) return help_with_form(*form, *name, problem);
    problem.help(fmt::format("a function with a similar name exists: {}", quoted(*name)));
}

// Functions of all files whose names begin with `prefix`, and one of them.
struct Beginning {
    size_t count = 0;
    std::string example;
};
Beginning beginning_with(std::string_view prefix, const TracedLibrary& library) {
    Beginning found;
    for (const LibraryFile* file : library.files) {
        for (const Symbol& symbol : file->index.functions()) {
            if (!symbol.name.starts_with(prefix)) continue;
            if (found.count++ == 0) found.example = symbol.name;
        }
    }
    return found;
}

// `cuMemAloc*` -> "23 functions begin with `cuMemAl`, ..."
void help_with_prefix(const NamePattern& pattern, const TracedLibrary& library,
                      Diagnostic& problem) {
    std::string_view prefix = pattern.prefix();
    for (; prefix.size() >= 2; prefix.remove_suffix(1)) {
        const Beginning found = beginning_with(prefix, library);
        if (found.count == 0) continue;
        problem.help(fmt::format("{} with {}, for example {}",
                                 found.count == 1 ? "1 function begins"
                                                  : fmt::format("{} functions begin", found.count),
                                 quoted(prefix), quoted(found.example)));
        return;
    }
}

// The closest of the names that people write; of a pattern, one that has its last part.
void help_with_cxx_name(const NamePattern& pattern, const TracedLibrary& library,
                        Diagnostic& problem) {
    std::set<std::string> all;
    for (const LibraryFile* file : library.files) {
        for (const Symbol& symbol : file->index.functions()) {
            if (auto name = cxx_function_name(symbol.name)) all.insert(std::move(*name));
        }
    }
    const std::vector<std::string> names(all.begin(), all.end());
    if (names.empty()) {
        problem.note("it has no C++ functions");
    } else if (auto name = closest_name(pattern.text(), names)) {
        problem.help(fmt::format("a function with a similar name exists: {}", quoted(*name)));
    } else {
        problem.note(fmt::format("{} of them are of C++, for example {}", names.size(),
                                 quoted(names.front())));
    }
}

std::vector<std::string> matching_ifuncs(const NamePattern& pattern, const TracedLibrary& library) {
    std::vector<std::string> found;
    for (const LibraryFile* file : library.files) {
        for (const std::string& name : file->index.ifuncs()) {
            if (pattern.matches(name)) found.push_back(name);
        }
    }
    return found;
}

// memcpy -> __memcpy_avx_unaligned, __memcpy_evex_unaligned, ...
std::vector<std::string> implementations(const std::string& ifunc, const TracedLibrary& library) {
    std::vector<std::string> found;
    for (const LibraryFile* file : library.files) {
        for (const Symbol& symbol : file->index.functions()) {
            const size_t at = symbol.name.find_first_not_of('_');
            if (at == 0 || at == std::string::npos) continue;
            if (symbol.name.compare(at, ifunc.size() + 1, ifunc + "_") != 0) continue;
            found.push_back(symbol.name);
        }
    }
    return found;
}

bool explain_ifunc(const NamePattern& pattern, const TracedLibrary& library, Diagnostic& problem) {
    const std::vector<std::string> ifuncs = matching_ifuncs(pattern, library);
    if (ifuncs.empty()) return false;
    if (!pattern.is_literal()) {
        problem.note(fmt::format("it matches IFUNCs only ({}): each picks one of its "
                                 "implementations when the program starts",
                                 listed(ifuncs)));
        return true;
    }
    const std::string& name = ifuncs.front();
    const std::vector<std::string> found = implementations(name, library);
    if (found.empty()) {
        problem.note(
            fmt::format("{} is an IFUNC: its implementations have no symbols", quoted(name)));
    } else {
        problem.note(
            fmt::format("{} is an IFUNC: its implementations are {}", quoted(name), listed(found)));
        problem.help(fmt::format("trace the implementations: `__{}_*`", name));
    }
    return true;
}

Diagnostic& start(const rules::Rule& rule, const rules::FunctionTarget& target, std::string message,
                  Diagnostics& diagnostics) {
    if (!rule.optional) return diagnostics.error(target.pattern_span, std::move(message));
    return diagnostics.aside(target.pattern_span, std::move(message));
}

bool has_function(const std::string& name, const TracedLibrary& library) {
    const NamePattern pattern(name, library.variants);
    for (const LibraryFile* file : library.files) {
        if (!file->index.matching(pattern).empty()) return true;
    }
    return !matching_ifuncs(pattern, library).empty();
}

}  // namespace

void no_match(const rules::Rule& rule, const rules::FunctionTarget& target,
              const TracedLibrary& library, Diagnostics& diagnostics) {
    Diagnostic& problem =
        start(rule, target,
              fmt::format("no function in {} matches {}", library.title, quoted(target.pattern)),
              diagnostics);
    note_where_looked(library, problem);
    if (rule.optional) {
        problem.note("the rule is `optional`: this target is left out");
        return;
    }
    const NamePattern pattern(target.pattern, library.variants);
    if (pattern.is_cxx()) return help_with_cxx_name(pattern, library, problem);
    if (explain_ifunc(pattern, library, problem)) return;
    if (pattern.is_literal()) {
        help_with_name(target.pattern, library, problem);
    } else {
        help_with_prefix(pattern, library, problem);
    }
}

void all_excepted(const rules::Rule& rule, const rules::FunctionTarget& target,
                  const TracedLibrary& library, Diagnostics& diagnostics) {
    Diagnostic& problem = start(rule, target,
                                fmt::format("`except` takes out all that {} matches in {}",
                                            quoted(target.pattern), library.title),
                                diagnostics);
    if (rule.optional) {
        problem.note("the rule is `optional`: this target is left out");
    } else {
        problem.help("narrow `except`, or remove this target");
    }
}

void beside_ifunc(const rules::FunctionTarget& target, const TracedLibrary& library,
                  Diagnostics& diagnostics) {
    const NamePattern pattern(target.pattern, library.variants);
    if (!pattern.is_literal() || matching_ifuncs(pattern, library).empty()) return;
    Diagnostic& problem = diagnostics.warning(
        target.pattern_span, fmt::format("{} is only an old version here, which few programs call",
                                         quoted(target.pattern)));
    explain_ifunc(pattern, library, problem);
}

void leaves_out_returning_twice(const rules::Rule& rule, const rules::FunctionTarget& target,
                                const std::vector<std::string>& names, bool all,
                                Diagnostics& diagnostics) {
    if (all) {
        start(rule, target,
              fmt::format("no probe on the return of {}: it returns twice, which a probe breaks",
                          listed(names)),
              diagnostics)
            .help("act on the way in: `on entry`");
        return;
    }
    diagnostics
        .note(target.pattern_span,
              fmt::format("{} leaves out {}", quoted(target.pattern), listed(names)))
        .note("what returns twice can be traced `on entry` only");
}

void useless_except(const rules::Glob& except, const std::vector<const TracedLibrary*>& libraries,
                    Diagnostics& diagnostics) {
    if (is_glob(except.pattern)) return;
    for (const TracedLibrary* library : libraries) {
        if (has_function(except.pattern, *library)) return;
    }
    for (const TracedLibrary* library : libraries) {
        const auto similar = closest_name(except.pattern, candidates(except.pattern, *library));
        if (!similar) continue;
        diagnostics
            .warning(except.span, fmt::format("{} takes nothing out: no function has that name",
                                              quoted(except.pattern)))
            .help(fmt::format("a function with a similar name exists: {}", quoted(*similar)));
        return;
    }
}

}  // namespace mlbcc::target
