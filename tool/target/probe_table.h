// What the rules want of the functions of each file, added up: one entry an address, which becomes
// one probe.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "target/library_table.h"
#include "target/target.h"

namespace mlbcc::target {

// A rule acts once on a function, however many of its targets match: as its most exact one.
void add_use(std::vector<RuleUse>& uses, const RuleUse& use);
// The order of Probe::uses.
bool is_weaker(const RuleUse& a, const RuleUse& b);

// Whether a rule's `except` names it.
bool is_excepted(const rules::Rule& rule, std::string_view name);

// All probes of a table by any key, in its order; the table is empty then.
template <typename Key> std::vector<Probe> take_all(std::map<Key, Probe>& probes) {
    std::vector<Probe> all;
    for (auto& [key, probe] : probes) {
        std::ranges::sort(probe.uses, is_weaker);
        all.push_back(std::move(probe));
    }
    probes.clear();
    return all;
}

class ProbeTable {
public:
    ProbeTable(const rules::TypeTable& types, bool keep_mangled)
        : types_(types), keep_mangled_(keep_mangled) {}

    // A rule wants these functions of one of the library's files. Calls come rule by rule.
    void want(const RuleUse& use, const TracedLibrary& library, const LibraryFile& file,
              const std::vector<SymbolId>& symbols);
    // Whether any rule wants this function.
    bool wants(const LibraryFile& file, GroupId group) const;
    // All probes, by path and offset.
    std::vector<Probe> take();

private:
    struct Wanted {
        SymbolId name{};             // the best of those that some target matches
        bool named_exactly = false;  // it is what a rule says, letter by letter
        const TracedLibrary* library = nullptr;
        std::vector<RuleUse> uses;
    };
    struct WantedFile {
        const LibraryFile* file = nullptr;
        std::vector<Wanted> groups;  // by GroupId
    };

    void want_one(const RuleUse& use, const TracedLibrary& library, const LibraryFile& file,
                  SymbolId symbol, Wanted& wanted) const;
    bool is_better_name(const std::string& name, const std::string& than,
                        const Variants& variants) const;
    const rules::Signature* signature_of(const LibraryFile& file, GroupId group,
                                         const Wanted& wanted) const;
    Probe make_probe(const LibraryFile& file, GroupId group, Wanted& wanted) const;

    std::string shown_name(const std::string& symbol, const Variants& variants) const;

    const rules::TypeTable& types_;
    bool keep_mangled_;
    std::map<std::string, WantedFile> files_;  // by path
};

}  // namespace mlbcc::target
