#include "elf/elf_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <string_view>
#include <utility>

#include "elf/debug_images.h"
#include "elf/elf_image.h"
#include "elf/go_functions.h"

namespace mlbcc::elf {

namespace {

using target::Symbols;

// A symbol whose name is still in the file's string table.
struct Function {
    std::string_view name;
    uint64_t offset = 0, size = 0;
    bool exported = false;
    std::string_view version;  // target::Symbol
};

std::string_view text_at(std::string_view table, uint32_t offset) {
    if (offset >= table.size()) return {};
    const std::string_view rest = table.substr(offset);
    return rest.substr(0, std::min(rest.find('\0'), rest.size()));
}

// The versions of "memcpy@@GLIBC_2.14" and "memcpy@GLIBC_2.2.5" are left out: the static table has
// them in the name.
std::string_view name_at(std::string_view table, uint32_t offset) {
    const std::string_view name = text_at(table, offset);
    return name.substr(0, name.find('@', 1));
}
std::string_view version_at(std::string_view table, uint32_t offset) {
    const std::string_view name = text_at(table, offset);
    const size_t at = name.find('@', 1);
    return at == name.npos ? std::string_view() : name.substr(at + 1);
}

// The versions of a dynamic table's symbols, by their place in it: Solaris' scheme as GNU has it
// (Linux Standard Base, symbol versioning).
class SymbolVersions {
public:
    static constexpr uint16_t kHidden = 0x8000;  // there is a newer one

    SymbolVersions(const ElfImage& image, const std::vector<Elf64_Shdr>& sections,
                   const Elf64_Shdr& table) {
        for (const Elf64_Shdr& section : sections) {
            const bool is_mine =
                section.sh_link < sections.size() && &sections[section.sh_link] == &table;
            if (section.sh_type == SHT_GNU_versym && is_mine) numbers_ = image.contents(section);
            if (section.sh_type == SHT_GNU_verdef && section.sh_link == table.sh_link)
                read_names(image.contents(section), image.text(sections[section.sh_link]));
        }
    }

    // Lives as long as this does.
    std::string_view of(size_t symbol) const {
        uint16_t number = 0;
        if ((symbol + 1) * sizeof number > numbers_.size()) return {};
        std::memcpy(&number, &numbers_[symbol * sizeof number], sizeof number);
        const auto text = texts_.find(number);
        return text == texts_.end() ? std::string_view() : text->second;
    }

private:
    void read_names(const std::string& definitions, const std::string& texts) {
        Elf64_Verdef one{};
        for (size_t at = 0; at + sizeof one <= definitions.size(); at += one.vd_next) {
            std::memcpy(&one, &definitions[at], sizeof one);
            Elf64_Verdaux name{};
            const size_t place = at + one.vd_aux;
            if (place + sizeof name > definitions.size()) return;
            std::memcpy(&name, &definitions[place], sizeof name);
            const std::string version(text_at(texts, name.vda_name));
            texts_[one.vd_ndx] = "@" + version;
            texts_[static_cast<uint16_t>(one.vd_ndx | kHidden)] = version;
            if (one.vd_next == 0) return;
        }
    }

    std::string numbers_;
    std::map<uint16_t, std::string> texts_;  // target::Symbol::version, by a symbol's number
};

struct Tables {
    std::list<std::string> texts;        // what the names point into
    std::list<SymbolVersions> versions;  // likewise
    std::vector<Function> functions;
    std::vector<std::string_view> ifuncs;
    target::StackSigns stacks;
};

bool is_entered_by_call(std::string_view name) {
    if (name.ends_with(".cold") || name.find(".cold.") != std::string_view::npos) return false;
    return !name.starts_with("_dl_runtime_resolve") && !name.starts_with("_dl_runtime_profile") &&
           name != "__restore_rt" && name != "__kernel_rt_sigreturn";
}

// What the compiler adds to every program and library.
bool is_start_code(std::string_view name) {
    for (const std::string_view known : {"_init", "_fini", "frame_dummy", "register_tm_clones",
                                         "deregister_tm_clones", "__do_global_dtors_aux"}) {
        if (name == known) return true;
    }
    return false;
}

void add_symbol(const ElfImage& image, const Elf64_Sym& entry, std::string_view names,
                bool exported, std::string_view version, Tables& tables) {
    const unsigned type = ELF64_ST_TYPE(entry.st_info);
    if (entry.st_shndx == SHN_UNDEF) {
        tables.stacks.imports(name_at(names, entry.st_name));
        return;
    }
    if (type != STT_FUNC && type != STT_GNU_IFUNC) return;
    const std::string_view name = name_at(names, entry.st_name);
    if (name.empty()) return;
    tables.stacks.defines(name, ELF64_ST_BIND(entry.st_info) == STB_LOCAL);
    if (type == STT_GNU_IFUNC) {
        tables.ifuncs.push_back(name);
        return;
    }
    const std::optional<uint64_t> offset = image.file_offset(entry.st_value, PF_X);
    if (!offset || entry.st_value == image.entry_point()) return;
    if (!is_entered_by_call(name) || is_start_code(name)) return;
    tables.functions.push_back({name, *offset, entry.st_size, exported, version});
}

// Of the file itself, or of `image` that has what was stripped off it.
void add_table(const ElfImage& file, const ElfImage& image, const std::vector<Elf64_Shdr>& sections,
               const Elf64_Shdr& table, Tables& tables) {
    if (table.sh_link >= sections.size()) return;
    const std::vector<Elf64_Sym> entries = image.symbols(table);
    tables.texts.push_back(image.text(sections[table.sh_link]));
    tables.functions.reserve(tables.functions.size() + entries.size());
    const bool exported = table.sh_type == SHT_DYNSYM;
    const std::string_view names = tables.texts.back();
    const SymbolVersions* versions =
        exported ? &tables.versions.emplace_back(image, sections, table) : nullptr;
    for (size_t i = 0; i < entries.size(); ++i) {
        const std::string_view version =
            versions != nullptr ? versions->of(i) : version_at(names, entries[i].st_name);
        add_symbol(file, entries[i], names, exported, version, tables);
    }
}

void add_tables(const ElfImage& file, const ElfImage& image,
                const std::vector<Elf64_Shdr>& sections, Tables& tables) {
    for (const Elf64_Shdr& section : sections) {
        const bool has_symbols = section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB;
        if (has_symbols) add_table(file, image, sections, section, tables);
    }
}

// What Go's own table has of a program whose symbols were taken away.
void add_go_functions(const ElfImage& image, const Elf64_Shdr& section, uint64_t text,
                      Tables& tables) {
    tables.texts.push_back(image.contents(section));
    for (const GoFunction& one : go_functions(tables.texts.back(), text)) {
        const std::optional<uint64_t> offset = image.file_offset(one.address, PF_X);
        if (offset) tables.functions.push_back({one.name, *offset, one.size, false});
    }
}

void look_at_names(const ElfImage& image, const std::vector<Elf64_Shdr>& sections, Tables& tables) {
    if (image.section_names() >= sections.size()) return;
    const std::string names = image.text(sections[image.section_names()]);
    const bool stripped = std::ranges::none_of(
        sections, [](const Elf64_Shdr& one) { return one.sh_type == SHT_SYMTAB; });
    uint64_t text = 0;
    for (const Elf64_Shdr& section : sections) {
        const std::string_view name = name_at(names, section.sh_name);
        if (name == ".text") text = section.sh_addr;
        tables.stacks.has_section(name);
        if (stripped && target::is_go_table(name)) add_go_functions(image, section, text, tables);
    }
}

// A function is in both tables, and once for each version of its name.
void remove_duplicates(Tables& tables) {
    auto& functions = tables.functions;
    std::sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) {
        const int order = a.name.compare(b.name);
        if (order != 0) return order < 0;
        if (a.offset != b.offset) return a.offset < b.offset;
        if (a.exported != b.exported) return a.exported;
        return a.version != b.version ? a.version < b.version : a.size > b.size;
    });
    const auto same = [](const Function& a, const Function& b) {
        return a.offset == b.offset && a.name == b.name && (a.version == b.version || !b.exported);
    };
    functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
    auto& ifuncs = tables.ifuncs;
    std::sort(ifuncs.begin(), ifuncs.end());
    ifuncs.erase(std::unique(ifuncs.begin(), ifuncs.end()), ifuncs.end());
}

std::optional<std::string> soname_of(const Result<ElfImage>& image) {
    if (!image || !image->is_supported()) return std::nullopt;
    return image->soname();
}

}  // namespace

std::optional<std::string> elf_machine(const std::string& path) {
    const Result<ElfImage> image = ElfImage::open(path);
    if (!image) return std::nullopt;
    return image->machine();
}

std::optional<std::string> elf_soname(const std::string& path) {
    return soname_of(ElfImage::open(path));
}

std::optional<std::string> elf_soname(int file) {
    return soname_of(ElfImage::read(UniqueFd(fcntl(file, F_DUPFD_CLOEXEC, 0)), "the file"));
}

Result<Symbols> read_symbols(const std::string& path, const std::string& debug_root) {
    const Result<ElfImage> image = ElfImage::open(path);
    if (!image) return image.error();
    Symbols symbols;
    symbols.machine = image->machine();
    if (!image->is_supported()) return symbols;
    const Result<std::vector<Elf64_Shdr>> sections = image->sections();
    if (!sections) return sections.error();
    Tables tables;
    add_tables(*image, *image, *sections, tables);
    for (const ElfImage& other : debug_images(*image, path, debug_root)) {
        const Result<std::vector<Elf64_Shdr>> its = other.sections();
        if (its && other.is_supported()) add_tables(*image, other, *its, tables);
    }
    look_at_names(*image, *sections, tables);
    symbols.stacks = tables.stacks;
    remove_duplicates(tables);
    symbols.functions.reserve(tables.functions.size());
    for (const Function& each : tables.functions) {
        symbols.functions.push_back({std::string(each.name), each.offset, each.size, each.exported,
                                     std::string(each.version)});
    }
    symbols.ifuncs.assign(tables.ifuncs.begin(), tables.ifuncs.end());
    return symbols;
}

}  // namespace mlbcc::elf
