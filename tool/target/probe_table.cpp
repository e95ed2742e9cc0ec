#include "target/probe_table.h"

#include "text/rust_names.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "text/cxx_names.h"
#include "text/glob.h"

namespace mlbcc::target {

void add_use(std::vector<RuleUse>& uses, const RuleUse& use) {
    if (uses.empty() || uses.back().rule != use.rule) {
        uses.push_back(use);
    } else if (use.exactness > uses.back().exactness) {
        uses.back() = use;
    }
}

bool is_weaker(const RuleUse& a, const RuleUse& b) {
    if (a.exactness != b.exactness) return a.exactness < b.exactness;
    return a.rule->index < b.rule->index;
}

bool is_excepted(const rules::Rule& rule, std::string_view name) {
    return std::ranges::any_of(
        rule.except, [&](const rules::Glob& glob) { return glob_match(glob.pattern, name); });
}

void ProbeTable::want(const RuleUse& use, const TracedLibrary& library, const LibraryFile& file,
                      const std::vector<SymbolId>& symbols) {
    if (symbols.empty()) return;
    WantedFile& in_file = files_[file.path];
    if (in_file.file == nullptr) {
        in_file.file = &file;
        in_file.groups.resize(file.index.group_count());
    }
    for (const SymbolId symbol : symbols) {
        const auto group = static_cast<uint32_t>(file.index.group_of(symbol));
        want_one(use, library, file, symbol, in_file.groups[group]);
    }
}

void ProbeTable::want_one(const RuleUse& use, const TracedLibrary& library, const LibraryFile& file,
                          SymbolId symbol, Wanted& wanted) const {
    add_use(wanted.uses, use);
    const bool is_first = wanted.library == nullptr;
    // The library that knows more suffixes gives the shorter base name.
    if (is_first || library.variants.size() > wanted.library->variants.size()) {
        wanted.library = &library;
    }
    const std::string& name = file.index[symbol].name;
    const bool named_exactly = name == use.target->pattern;
    const bool is_better = is_first || (named_exactly != wanted.named_exactly
                                            ? named_exactly
                                            : is_better_name(name, file.index[wanted.name].name,
                                                             wanted.library->variants));
    if (!is_better) return;
    wanted.name = symbol;
    wanted.named_exactly = named_exactly;
}

bool ProbeTable::is_better_name(const std::string& name, const std::string& than,
                                const Variants& variants) const {
    if (name == than) return false;
    const bool has_prototype = find_signature(types_, name, variants) != nullptr;
    const bool other_has = find_signature(types_, than, variants) != nullptr;
    if (has_prototype != other_has) return has_prototype;
    if (name.size() != than.size()) return name.size() < than.size();
    return name < than;
}

// All names of an address are one function, so the prototype of any of them serves.
const rules::Signature* ProbeTable::signature_of(const LibraryFile& file, GroupId group,
                                                 const Wanted& wanted) const {
    const Variants& variants = wanted.library->variants;
    const std::string& primary = file.index[wanted.name].name;
    if (const auto* found = find_signature(types_, primary, variants)) return found;
    for (const SymbolId name : file.index.members(group)) {
        if (const auto* found = find_signature(types_, file.index[name].name, variants)) {
            return found;
        }
    }
    return nullptr;
}

// cuMemAlloc_v2 -> cuMemAlloc, _ZN3Net3runEi -> Net::run
std::string ProbeTable::shown_name(const std::string& symbol, const Variants& variants) const {
    std::optional<std::string> written;
    if (!keep_mangled_) written = rust_name(symbol);
    if (!keep_mangled_ && !written) written = cxx_function_name(symbol);
    return written ? *written : base_name(symbol, variants);
}

Probe ProbeTable::make_probe(const LibraryFile& file, GroupId group, Wanted& wanted) const {
    const SymbolId primary = wanted.name;
    const Symbol& symbol = file.index[primary];
    UserFunction function;
    if (!file.expected) function.path = file.path;
    function.soname = soname_of(*wanted.library, file);
    function.symbol = symbol.name;
    function.base = shown_name(symbol.name, wanted.library->variants);
    function.offset = symbol.offset;
    function.size = symbol.size;
    bool is_exported = false;
    for (const SymbolId member : file.index.members(group)) {
        is_exported |= file.index[member].exported;
        if (file.index[member].name != symbol.name)
            function.aliases.push_back(file.index[member].name);
    }
    if (!wanted.library->no_callbacks)
        function.stacks = file.index.stacks().of_function(is_exported);
    std::sort(wanted.uses.begin(), wanted.uses.end(), is_weaker);
    return {std::move(function), signature_of(file, group, wanted), std::move(wanted.uses)};
}

bool ProbeTable::wants(const LibraryFile& file, GroupId group) const {
    const auto found = files_.find(file.path);
    return found != files_.end() &&
           !found->second.groups[static_cast<uint32_t>(group)].uses.empty();
}

std::vector<Probe> ProbeTable::take() {
    std::vector<Probe> probes;
    size_t count = 0;
    for (const auto& [path, in_file] : files_) count += in_file.groups.size();
    probes.reserve(count);
    for (auto& [path, in_file] : files_) {
        for (uint32_t group = 0; group < in_file.groups.size(); group++) {
            Wanted& wanted = in_file.groups[group];
            if (wanted.uses.empty()) continue;
            probes.push_back(make_probe(*in_file.file, GroupId{group}, wanted));
        }
    }
    files_.clear();
    return probes;
}

}  // namespace mlbcc::target
