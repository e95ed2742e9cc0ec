#include "target/messages.h"

#include <fmt/format.h>

#include <algorithm>

namespace mlbcc::target {

namespace {

constexpr size_t kShownNames = 3;

Diagnostic& add(bool is_error, Span span, std::string message, Diagnostics& diagnostics) {
    return is_error ? diagnostics.error(span, std::move(message))
                    : diagnostics.aside(span, std::move(message));
}

std::string not_found_message(const TracedLibrary& library) {
    return fmt::format("library {} was not found", title_of(library.names));
}

std::string advice(const TracedLibrary& library) {
    const bool is_path = library.names.back().text.find('/') != std::string::npos;
    if (is_path) {
        return "correct the path (a relative one starts at the folder of the rule file), "
               "or mark the rule `optional`";
    }
    return "install it, give its path, add its folder to LD_LIBRARY_PATH, "
           "or mark the rule `optional`";
}

}  // namespace

std::string quoted(std::string_view name) {
    return fmt::format("`{}`", name);
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    const size_t shown = std::min(names.size(), kShownNames);
    for (size_t i = 0; i < shown; i++) {
        const bool is_last = i + 1 == names.size();
        text += i == 0 ? "" : is_last ? " and " : ", ";
        text += quoted(names[i]);
    }
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

std::string title_of(const std::vector<LibraryName>& names) {
    std::string title;
    for (const LibraryName& name : names) {
        title += (title.empty() ? "" : " or ") + quoted(name.text);
    }
    return title;
}

FileProblem unreadable_file(const std::string& title, const Error& error) {
    return {fmt::format("cannot read the functions of {}", title), error.message(), error.help};
}

FileProblem wrong_machine(const std::string& title, const std::string& path,
                          const std::string& machine, const std::string& host) {
    return {fmt::format("{} is built for {}, and this machine is {}", title, machine, host),
            fmt::format("the file is {}", path),
            fmt::format("give the path of the library for {}", host)};
}

void library_not_found(const TracedLibrary& library, Diagnostics& diagnostics) {
    Diagnostic& problem =
        add(library.required, library.span, not_found_message(library), diagnostics);
    if (!library.required) {
        problem.note("the rules on it are `optional` and are left out");
        return;
    }
    for (const std::string& place : library.search.searched) problem.note("searched " + place);
    if (!library.search.similar.empty()) {
        std::string names;
        for (const std::string& name : library.search.similar) {
            names += (names.empty() ? "" : ", ") + quoted(name);
        }
        problem.help(fmt::format("this machine has {}", names));
    }
    problem.help(advice(library));
}

void library_awaited(const TracedLibrary& library, Diagnostics& diagnostics) {
    Diagnostic& problem = diagnostics.note(
        library.span,
        fmt::format("library {} is not there yet: mlbcc waits for it", title_of(library.names)));
    for (const std::string& place : library.search.searched) problem.note("searched " + place);
}

// Where a glob found several files, one of them that cannot be traced does not spoil the others.
void file_not_usable(const TracedLibrary& library, const LibraryFile& file,
                     Diagnostics& diagnostics) {
    const bool is_error = library.required && library.files.empty();
    Diagnostic& problem = add(is_error, library.span, file.problem->message, diagnostics);
    problem.note(file.problem->note);
    if (!is_error) {
        problem.note(library.files.empty() ? "the rules on it are `optional` and are left out"
                                           : "the other files of this library are traced");
    } else if (!file.problem->help.empty()) {
        problem.help(file.problem->help);
    }
}

}  // namespace mlbcc::target
