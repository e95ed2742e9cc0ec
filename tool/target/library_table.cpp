#include "target/library_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "target/messages.h"
#include "text/glob.h"

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

// A name that the glob matches: "cu*Get?" -> "cuGetx".
std::optional<std::string> example_of(std::string_view glob) {
    std::string name;
    for (size_t i = 0; i < glob.size(); ++i) {
        if (glob[i] == '*') continue;
        const size_t end = glob[i] == '[' ? glob.find(']', i + 2) : std::string_view::npos;
        name += glob[i] == '?' ? 'x' : end != std::string_view::npos ? glob[end - 1] : glob[i];
        if (end != std::string_view::npos) i = end;
    }
    if (name.empty()) name = "x";
    if (!glob_match(glob, name)) return std::nullopt;
    return name;
}

// The functions that a library may have, as far as can be known before it is there: those with a
// prototype, and what the rule itself names.
std::set<std::string> expected_names(const std::string& pattern, const Variants& variants,
                                     const rules::TypeTable& types) {
    std::set<std::string> names;
    const NamePattern matcher(pattern, variants);
    for (const auto& [name, signature] : types.functions()) {
        if (matcher.matches(name)) names.insert(name);
    }
    if (matcher.is_literal()) {
        names.insert(pattern);
    } else if (names.empty()) {
        if (auto example = example_of(pattern)) names.insert(std::move(*example));
    }
    return names;
}

// `libx.so*` and `libx.so.1` may be one file, `libx.so` and the longer name that it leads to, too.
bool may_be_one_file(const TracedLibrary& a, const TracedLibrary& b) {
    const auto leads_to = [](const std::string& from, const std::string& to) {
        return glob_match(from, to) || glob_match(from + ".*", to);
    };
    for (const LibraryName& one : a.names) {
        for (const LibraryName& other : b.names) {
            const std::string x = last_component(one.text), y = last_component(other.text);
            if (leads_to(x, y) || leads_to(y, x)) return true;
        }
    }
    return false;
}

}  // namespace

TracedLibrary* LibraryTable::use(const rules::FunctionTarget& target, const rules::Rule& rule) {
    std::unique_ptr<TracedLibrary>& library = libraries_[key_of(target)];
    if (library == nullptr) {
        library = target.quoted ? make_quoted(target) : make_named(target);
        if (library == nullptr) return nullptr;
        search(*library);
        in_order_.push_back(library.get());
    }
    if (!rule.optional) library->required = true;
    if (!rule.unsaid) library->said = true;
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
        made->no_callbacks |= library.no_callbacks;
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
        made->no_callbacks = library.no_callbacks;
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

void LibraryTable::expect(
    const std::vector<std::pair<TracedLibrary*, const rules::FunctionTarget*>>& targets,
    const rules::TypeTable& types) {
    std::map<TracedLibrary*, std::set<std::string>> names;
    for (const auto& [library, target] : targets) {
        const bool absent = library->files.empty() && library->unusable.empty();
        if (!absent || library->required) continue;
        names[library].merge(expected_names(target->pattern, library->variants, types));
    }
    for (auto& [library, expected] : names) {
        library->awaited = true;
        library->title = title_of(library->names);
        library->soname = last_component(library->names.front().text);
        library->files.push_back(&expect_file(library->title, expected));
    }
    for (auto one = names.begin(); one != names.end(); ++one) {
        for (auto other = std::next(one); other != names.end(); ++other) {
            if (may_be_one_file(*one->first, *other->first)) expect_both(*one, *other);
        }
    }
}

// What rules on either want of the same function is then one probe.
void LibraryTable::expect_both(const Expected& one, const Expected& other) {
    std::set<std::string> shared;
    std::ranges::set_intersection(one.second, other.second, std::inserter(shared, shared.end()));
    if (shared.empty()) return;
    LibraryFile& file = expect_file(one.first->title, shared);
    one.first->files.push_back(&file);
    other.first->files.push_back(&file);
}

LibraryFile& LibraryTable::expect_file(const std::string& title,
                                       const std::set<std::string>& functions) {
    const std::string key = fmt::format("{} #{}", title, files_.size());
    std::unique_ptr<LibraryFile>& file = files_[key];
    file = std::make_unique<LibraryFile>();
    file->path = key;
    file->expected = true;
    Symbols symbols;
    symbols.stacks = StackSigns::not_known();
    for (const std::string& name : functions) {
        symbols.functions.push_back({name, 16 * (symbols.functions.size() + 1), 16});
    }
    file->index = FunctionIndex(std::move(symbols));
    return *file;
}

std::string soname_of(const TracedLibrary& library, const LibraryFile& file) {
    return library.soname.empty() ? last_component(file.path) : library.soname;
}

// What lies in the program's own folders is one library, whatever they are called.
bool LibraryName::grows() const {
    return has_folder() && is_glob(text) && !text.starts_with('$');
}

bool SoughtLibrary::may_come() const {
    return !found || std::any_of(names.begin(), names.end(),
                                 [](const LibraryName& name) { return name.grows(); });
}

bool SoughtLibrary::may_come_anywhere() const {
    return optional && std::any_of(names.begin(), names.end(),
                                   [](const LibraryName& name) { return !name.has_folder(); });
}

std::vector<SoughtLibrary> LibraryTable::sought() const {
    std::vector<SoughtLibrary> all;
    for (const TracedLibrary* library : in_order_) {
        const bool found = !library->awaited && !library->files.empty();
        all.push_back(
            {title_of(library->names), library->names, found, !library->required, library->said});
    }
    return all;
}

void LibraryTable::report_problems() {
    for (const TracedLibrary* library : in_order_) {
        const bool absent = library->files.empty() && library->unusable.empty();
        if ((absent || library->awaited) && !library->said) continue;
        if (library->awaited) {
            library_awaited(*library, diagnostics_);
            continue;
        }
        if (absent) library_not_found(*library, diagnostics_);
        for (const LibraryFile* file : library->unusable) {
            file_not_usable(*library, *file, diagnostics_);
        }
    }
}

}  // namespace mlbcc::target
