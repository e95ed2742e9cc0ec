#include "target/library_table.h"

#include <algorithm>
#include <utility>

#include "base/glob.h"
#include "target/messages.h"

namespace mlbcc::target {

namespace {

// "rules/cuda.rules" -> "rules", "cuda.rules" -> ".".
std::string directory_of(std::string_view path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return ".";
    return std::string(path.substr(0, std::max<size_t>(slash, 1)));
}

std::string last_component(std::string_view path) {
    const size_t slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

void append_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
    for (const std::string& text : from) {
        if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
    }
}

std::string key_of(const rules::FunctionTarget& target) {
    if (!target.quoted) return target.library;
    const SourceFile* file = target.library_span.file;
    return "\"" + target.library + "\"" + (file == nullptr ? "" : directory_of(file->path()));
}

}  // namespace

TracedLibrary* LibraryTable::use(const rules::FunctionTarget& target, bool optional) {
    std::unique_ptr<TracedLibrary>& library = libraries_[key_of(target)];
    if (library == nullptr) {
        library = target.quoted ? make_quoted(target) : make_named(target);
        if (library == nullptr) return nullptr;
        search(*library);
        in_order_.push_back(library.get());
    }
    if (!optional) library->required = true;
    return library.get();
}

// A quoted name that a `library` line has too is traced with the variants of that line.
std::unique_ptr<TracedLibrary>
LibraryTable::make_quoted(const rules::FunctionTarget& target) const {
    auto made = std::make_unique<TracedLibrary>();
    const SourceFile* file = target.library_span.file;
    made->names.push_back({target.library, file == nullptr ? "." : directory_of(file->path())});
    made->span = target.library_span;
    for (const rules::Library& library : rules_.libraries) {
        const auto& files = library.files;
        if (std::find(files.begin(), files.end(), target.library) == files.end()) continue;
        append_new(made->variants, library.variants);
    }
    return made;
}

std::unique_ptr<TracedLibrary> LibraryTable::make_named(const rules::FunctionTarget& target) const {
    for (const rules::Library& library : rules_.libraries) {
        if (library.name != target.library) continue;
        auto made = std::make_unique<TracedLibrary>();
        for (const std::string& file : library.files) {
            made->names.push_back({file, library.directory});
        }
        made->variants = library.variants;
        made->span = library.span;
        return made;
    }
    return nullptr;
}

void LibraryTable::search(TracedLibrary& library) {
    for (const LibraryName& name : library.names) {
        LibrarySearch found = host_.find_library(name.text, name.directory);
        append_new(library.search.searched, found.searched);
        append_new(library.search.similar, found.similar);
        if (found.paths.empty()) continue;
        library.title = quoted(name.text);
        if (!is_glob(name.text)) library.soname = last_component(name.text);
        for (const std::string& path : found.paths) add_file(library, path);
        return;
    }
}

void LibraryTable::add_file(TracedLibrary& library, const std::string& path) {
    LibraryFile& file = open(path, library.title);
    (file.problem ? library.unusable : library.files).push_back(&file);
}

LibraryFile& LibraryTable::open(const std::string& path, const std::string& title) {
    std::unique_ptr<LibraryFile>& file = files_[path];
    if (file != nullptr) return *file;
    file = std::make_unique<LibraryFile>();
    file->path = path;
    Result<Symbols> symbols = host_.symbols(path);
    if (!symbols) {
        file->problem = unreadable_file(title, symbols.error());
        return *file;
    }
    const std::string machine = host_.architecture();
    if (!symbols->machine.empty() && symbols->machine != machine) {
        file->problem = wrong_machine(title, path, symbols->machine, machine);
        return *file;
    }
    file->index = FunctionIndex(std::move(symbols).value());
    return *file;
}

void LibraryTable::report_problems() {
    for (const TracedLibrary* library : in_order_) {
        if (library->files.empty() && library->unusable.empty()) {
            library_not_found(*library, diagnostics_);
        }
        for (const LibraryFile* file : library->unusable) {
            file_not_usable(*library, *file, diagnostics_);
        }
    }
}

}  // namespace mlbcc::target
