#include "kernel/kallsyms.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "files/read_lines.h"

namespace mlbcc::kernel {

namespace {

struct Line {
    KallsymsName symbol;
    char type = 0;
};

// "ffffffffc0a01230 t nvidia_ioctl\t[nvidia]"
std::optional<Line> parse(std::string_view text) {
    Line line;
    const char* end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, line.symbol.address, 16);
    if (error != std::errc() || end - after < 4 || after[0] != ' ' || after[2] != ' ') {
        return std::nullopt;
    }
    line.type = after[1];
    std::string_view name(after + 3, static_cast<size_t>(end - after - 3));
    if (name.ends_with(']')) {
        const size_t open = name.rfind('[');
        if (open == name.npos) return std::nullopt;
        line.symbol.module = name.substr(open + 1, name.size() - open - 2);
        name = name.substr(0, open);
    }
    line.symbol.name = name.substr(0, name.find_first_of(" \t"));
    if (line.symbol.name.empty()) return std::nullopt;
    return line;
}

bool is_code(char type) {
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

bool is_padding(std::string_view name) {
    return name.starts_with("__pfx_") || name.starts_with("__cfi_");
}

// __noinstr_text_start -> noinstr, and whether it is the start
struct Mark {
    std::string_view section;
    bool is_start = false;
};
std::optional<Mark> mark_of(std::string_view name) {
    if (!name.starts_with('_')) return std::nullopt;
    if (name == "_text" || name == "_stext") return Mark{"code", true};
    if (name == "_etext") return Mark{"code", false};
    if (name == "_sinittext") return Mark{"init", true};
    if (name == "_einittext") return Mark{"init", false};
    const bool start = name.ends_with("_text_start"), end = name.ends_with("_text_end");
    if (!name.starts_with("__") || (!start && !end)) return std::nullopt;
    name.remove_prefix(2);
    name.remove_suffix(start ? 11 : 9);
    return Mark{name, start};
}

bool refuses_kprobes(std::string_view section) {
    return section == "entry" || section == "noinstr" || section == "kprobes";
}

class Reader {
public:
    void line(std::string_view text) {
        const auto line = parse(text);
        if (!line || !is_code(line->type) || is_padding(line->symbol.name)) return;
        const auto mark = line->symbol.module.empty() ? mark_of(line->symbol.name) : std::nullopt;
        if (mark) {
            add_mark(*mark, line->symbol.address);
        } else {
            read_.symbols.add(line->symbol);
        }
    }

    Kallsyms take() {
        std::erase_if(read_.no_kprobes, [](const AddressRange& r) { return r.begin >= r.end; });
        return std::move(read_);
    }

private:
    void add_mark(const Mark& mark, uint64_t address) {
        AddressRange* range = mark.section == "code"   ? &read_.code
                              : mark.section == "init" ? &read_.init
                                                       : section(mark.section);
        if (range == nullptr) return;
        (mark.is_start ? range->begin : range->end) = address;
    }

    // The end may come before the start: an empty section's are at one address.
    AddressRange* section(std::string_view name) {
        if (!refuses_kprobes(name)) return nullptr;
        const auto known = std::ranges::find(sections_, name);
        if (known != sections_.end()) return &read_.no_kprobes[known - sections_.begin()];
        sections_.emplace_back(name);
        return &read_.no_kprobes.emplace_back();
    }

    Kallsyms read_;
    std::vector<std::string> sections_;  // of no_kprobes
};

}  // namespace

// ---- KernelNames

uint16_t KernelNames::index_of(std::string_view module) {
    // Those of a module come together.
    if (!entries_.empty() && modules_[entries_.back().module] == module) {
        return entries_.back().module;
    }
    const auto known = std::ranges::find(modules_, module);
    if (known != modules_.end()) return static_cast<uint16_t>(known - modules_.begin());
    if (modules_.size() == std::numeric_limits<uint16_t>::max()) return 0;
    modules_.emplace_back(module);
    return static_cast<uint16_t>(modules_.size() - 1);
}

void KernelNames::add(const KallsymsName& name) {
    if (texts_.size() + name.name.size() > std::numeric_limits<uint32_t>::max()) return;
    const auto length = std::min<size_t>(name.name.size(), std::numeric_limits<uint16_t>::max());
    const uint16_t module = index_of(name.module);
    entries_.push_back({name.address, static_cast<uint32_t>(texts_.size()),
                        static_cast<uint16_t>(length), module});
    texts_.append(name.name.substr(0, length));
}

KallsymsName KernelNames::operator[](size_t index) const {
    const Entry& entry = entries_[index];
    return {entry.address, std::string_view(texts_).substr(entry.text, entry.length),
            modules_[entry.module]};
}

void KernelNames::sort_by_address() {
    std::ranges::stable_sort(entries_, {}, &Entry::address);
}

size_t KernelNames::count_up_to(uint64_t address) const {
    const auto after = std::ranges::upper_bound(entries_, address, {}, &Entry::address);
    return static_cast<size_t>(after - entries_.begin());
}

// ---- the file

Result<Kallsyms> read_kallsyms(const std::string& path) {
    Reader reader;
    const Result<void> read =
        files::read_lines(path, [&reader](std::string_view line) { reader.line(line); });
    if (!read) return read.error();
    Kallsyms found = reader.take();
    if (found.symbols.size() > 0) return found;
    return Error{fmt::format("{} has no functions", path), 0,
                 "the kernel has to be built with CONFIG_KALLSYMS"};
}

}  // namespace mlbcc::kernel
