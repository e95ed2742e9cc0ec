// What a person is told when a target, a library or a file is not what its rule expects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/rules.h"
#include "target/library_table.h"
#include "text/diagnostic.h"

namespace mlbcc::target {

std::string quoted(std::string_view name);                  // cuInit -> `cuInit`
std::string listed(const std::vector<std::string>& names);  // `a`, `b`, `c` and 7 more

FileProblem unreadable_file(const std::string& title, const Error& error);
FileProblem wrong_machine(const std::string& title, const std::string& path,
                          const std::string& machine, const std::string& host);

std::string title_of(const std::vector<LibraryName>& names);  // `libfoo.so` or `libfoo.so.1`
void library_not_found(const TracedLibrary& library, Diagnostics& diagnostics);
void library_awaited(const TracedLibrary& library, Diagnostics& diagnostics);
void file_not_usable(const TracedLibrary& library, const LibraryFile& file,
                     Diagnostics& diagnostics);

// The pattern matches no function of the library, or only such as `except` takes out.
void no_match(const rules::Rule& rule, const rules::FunctionTarget& target,
              const TracedLibrary& library, Diagnostics& diagnostics);
void all_excepted(const rules::Rule& rule, const rules::FunctionTarget& target,
                  const TracedLibrary& library, Diagnostics& diagnostics);
// The name that the pattern is has an IFUNC, too: what matches is another version of it.
void beside_ifunc(const rules::FunctionTarget& target, const TracedLibrary& library,
                  Diagnostics& diagnostics);
// Functions that the pattern matches and that return twice; `all`: it matches no others.
void leaves_out_returning_twice(const rules::Rule& rule, const rules::FunctionTarget& target,
                                const std::vector<std::string>& names, bool all,
                                Diagnostics& diagnostics);
// A name after `except` that no library of the rule has, though it has one much like it.
void useless_except(const rules::Glob& except, const std::vector<const TracedLibrary*>& libraries,
                    Diagnostics& diagnostics);

}  // namespace mlbcc::target
