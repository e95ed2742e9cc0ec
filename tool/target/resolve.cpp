#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "target/kernel_table.h"
#include "target/messages.h"
#include "target/point_table.h"
#include "target/probe_table.h"
#include "target/target.h"

namespace mlbcc::target {

namespace {

// What `except` takes out of one file. A name takes out the function, whatever other names it has;
// a glob takes out names: `except __libc_*` leaves `malloc`, which is `__libc_malloc` too.
class Exclusion {
public:
    Exclusion(const std::vector<rules::Glob>& except, const TracedLibrary& library,
              const LibraryFile& file)
        : file_(file) {
        for (const rules::Glob& glob : except) {
            const NamePattern pattern(glob.pattern, library.variants);
            if (!pattern.is_literal()) {
                globs_.emplace_back(&glob, pattern);
                continue;
            }
            for (const SymbolId id : file.index.matching(pattern)) {
                names_.emplace(file.index.group_of(id), &glob);
            }
        }
    }

    // What takes it out; null: nothing does.
    const rules::Glob* find(SymbolId id) const {
        const auto named = names_.find(file_.index.group_of(id));
        if (named != names_.end()) return named->second;
        const std::string& name = file_.index[id].name;
        const auto found =
            std::ranges::find_if(globs_, [&](const auto& one) { return one.second.matches(name); });
        return found == globs_.end() ? nullptr : found->first;
    }

private:
    const LibraryFile& file_;
    std::vector<std::pair<const rules::Glob*, NamePattern>> globs_;
    std::map<GroupId, const rules::Glob*> names_;
};

struct LibraryTarget {
    const rules::FunctionTarget* target = nullptr;
    TracedLibrary* library = nullptr;
};
struct RuleTargets {
    const rules::Rule* rule = nullptr;
    std::vector<LibraryTarget> targets;
};

// Finds the library of each target of one rule.
struct FindLibrary {
    const rules::Rule& rule;
    LibraryTable& libraries;
    RuleTargets& found;

    template <class Other> void operator()(const Other&) {}  // point_table.h
    void operator()(const rules::FunctionTarget& target) {
        TracedLibrary* library = libraries.use(target, rule);
        if (library != nullptr) found.targets.push_back({&target, library});
    }
};

void take_out_returning_twice(const LibraryFile& file, std::vector<SymbolId>& functions,
                              std::vector<std::string>& names) {
    std::erase_if(functions, [&](SymbolId id) {
        if (!file.index.returns_twice(id)) return false;
        names.push_back(file.index[id].name);
        return true;
    });
}

class Resolver {
public:
    Resolver(const rules::RuleSet& rules, rules::TypeTable& types, Host& host,
             Diagnostics& diagnostics)
        : rules_(rules), types_(types), diagnostics_(diagnostics),
          libraries_(rules, host, diagnostics), probes_(types, rules.keep_mangled),
          kernel_(types, host, diagnostics), points_(rules, types, host, diagnostics) {}

    // Libraries first: one that is not there is said once, not once a target.
    std::vector<Probe> run(std::vector<SoughtLibrary>* libraries, std::vector<LeftOut>* left_out) {
        find_all_libraries();
        if (libraries != nullptr) {
            expect_absent();
            *libraries = libraries_.sought();
        }
        libraries_.report_problems();
        std::vector<Probe> all_probes = functions(left_out);
        for (const rules::Rule& rule : rules_.rules) kernel_.want(rule);
        for (const rules::Rule& rule : rules_.rules) points_.want(rule);
        for (Probe& probe : kernel_.take()) all_probes.push_back(std::move(probe));
        for (Probe& probe : points_.take()) all_probes.push_back(std::move(probe));
        return all_probes;
    }
    std::vector<Probe> run_late(std::vector<LeftOut>& left_out) {
        find_all_libraries();
        return functions(&left_out);
    }

private:
    void find_all_libraries() {
        for (const rules::Rule& rule : rules_.rules) all_.push_back(find_libraries(rule));
    }
    void expect_absent() {
        std::vector<std::pair<TracedLibrary*, const rules::FunctionTarget*>> targets;
        for (const RuleTargets& rule : all_) {
            for (const LibraryTarget& one : rule.targets) {
                targets.emplace_back(one.library, one.target);
            }
        }
        libraries_.expect(targets, types_);
    }
    std::vector<Probe> functions(std::vector<LeftOut>* left_out) {
        for (const RuleTargets& rule : all_) {
            lists_.clear();
            for (const LibraryTarget& target : rule.targets) match(*rule.rule, target);
            check_lists(rule);
            if (!rule.targets.empty()) check_except(rule);
        }
        if (left_out != nullptr) add_left_out(*left_out);
        return probes_.take();
    }

    RuleTargets find_libraries(const rules::Rule& rule) {
        RuleTargets found{&rule, {}};
        for (const rules::Target& target : rule.targets) {
            std::visit(FindLibrary{rule, libraries_, found}, target.node);
        }
        return found;
    }

    void match(const rules::Rule& rule, const LibraryTarget& target) {
        if (target.library->files.empty()) return;  // said before
        const NamePattern pattern(target.target->pattern, target.library->variants);
        const RuleUse use{&rule, target.target, pattern.exactness()};
        size_t matched = 0, wanted = 0;
        std::vector<std::string> twice;
        for (const LibraryFile* file : target.library->files) {
            const Exclusion exclusion(rule.except, *target.library, *file);
            std::vector<SymbolId> found = file->index.matching(pattern);
            matched += found.size();
            std::erase_if(found, [&](SymbolId id) {
                const rules::Glob* by = exclusion.find(id);
                if (by != nullptr && by->list && !file->expected)
                    left_out_[{file, *by->list}].emplace(file->index.group_of(id), target.library);
                return by != nullptr;
            });
            wanted += found.size();
            if (!rule.entry) take_out_returning_twice(*file, found, twice);
            probes_.want(use, *target.library, *file, found);
        }
        if (target.target->list) {
            // Libraries of other versions have not all of a list.
            lists_[{target.library, *target.target->list}] |= matched > 0;
        } else if (matched == 0) {
            // What several rules can do without is said once.
            const auto missing = std::pair(target.library, target.target->pattern);
            if (rule.unsaid) return;
            if (rule.optional && !missing_.insert(missing).second) return;
            no_match(rule, *target.target, *target.library, diagnostics_);
        } else if (wanted == 0) {
            all_excepted(rule, *target.target, *target.library, diagnostics_);
        } else if (!rule.optional) {
            beside_ifunc(*target.target, *target.library, diagnostics_);
        }
        if (!twice.empty()) {
            const bool all = twice.size() == wanted;
            leaves_out_returning_twice(rule, *target.target, twice, all, diagnostics_);
        }
    }

    void check_lists(const RuleTargets& rule) {
        for (const auto& [which, has_matched] : lists_) {
            if (has_matched || rule.rule->unsaid) continue;
            const TracedLibrary* library = which.first;
            const uint32_t list = which.second;
            const auto first = std::ranges::find_if(rule.targets, [&](const LibraryTarget& one) {
                return one.library == library && one.target->list == list;
            });
            rules::FunctionTarget whole = *first->target;
            whole.pattern = rules_.lists[list].name;
            no_match(*rule.rule, whole, *library, diagnostics_);
        }
    }

    void add_left_out(std::vector<LeftOut>& left_out) const {
        for (const auto& [which, groups] : left_out_) {
            const auto& [file, list] = which;
            const std::string& said = rules_.lists[list].said;
            if (said.empty()) continue;
            for (const auto& [group, library] : groups) {
                if (probes_.wants(*file, group)) continue;
                const std::string name = soname_of(*library, *file);
                auto known = std::ranges::find_if(left_out, [&](const LeftOut& one) {
                    return one.library == name && one.said == said;
                });
                if (known == left_out.end()) known = left_out.insert(known, {name, said, 0});
                ++known->functions;
            }
        }
    }

    void check_except(const RuleTargets& rule) {
        std::vector<const TracedLibrary*> libraries;
        for (const LibraryTarget& target : rule.targets) {
            if (target.library->files.empty() || target.library->awaited) return;
            libraries.push_back(target.library);
        }
        for (const rules::Glob& except : rule.rule->except) {
            if (except.list) continue;
            useless_except(except, libraries, diagnostics_);
        }
    }

    const rules::RuleSet& rules_;
    const rules::TypeTable& types_;
    Diagnostics& diagnostics_;
    LibraryTable libraries_;
    std::vector<RuleTargets> all_;
    std::set<std::pair<const TracedLibrary*, std::string>> missing_;  // of `optional` rules
    // Whether anything of this list is in the library, of one rule's targets.
    std::map<std::pair<const TracedLibrary*, uint32_t>, bool> lists_;
    // By file and list.
    std::map<std::pair<const LibraryFile*, uint32_t>, std::map<GroupId, const TracedLibrary*>>
        left_out_;
    ProbeTable probes_;
    KernelTable kernel_;
    PointTable points_;
};

}  // namespace

std::vector<Probe> resolve(const rules::RuleSet& rules, rules::TypeTable& types, Host& host,
                           Diagnostics& diagnostics) {
    return Resolver(rules, types, host, diagnostics).run(nullptr, nullptr);
}

std::vector<Probe> resolve_expecting(const rules::RuleSet& rules, rules::TypeTable& types,
                                     Host& host, Diagnostics& diagnostics,
                                     std::vector<SoughtLibrary>& libraries,
                                     std::vector<LeftOut>& left_out) {
    return Resolver(rules, types, host, diagnostics).run(&libraries, &left_out);
}

std::vector<Probe> resolve_late(const rules::RuleSet& rules, rules::TypeTable& types, Host& host,
                                Diagnostics& diagnostics, std::vector<LeftOut>& left_out) {
    return Resolver(rules, types, host, diagnostics).run_late(left_out);
}

}  // namespace mlbcc::target
