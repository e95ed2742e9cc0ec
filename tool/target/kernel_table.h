// Targets that are functions of the kernel or of its modules: each that some rule wants becomes one
// probe, with the parameters that the kernel's type information gives it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "target/target.h"

namespace mlbcc::target {

class KernelTable {
public:
    KernelTable(rules::TypeTable& types, Host& host, Diagnostics& diagnostics)
        : types_(types), host_(host), diagnostics_(diagnostics) {}

    // What the rule wants of the kernel's functions. Calls come rule by rule.
    void want(const rules::Rule& rule);
    // By symbol, then module. Says what `optional` rules have not found.
    std::vector<Probe> take();

private:
    using Key = std::tuple<std::string, std::string, uint64_t>;  // symbol, module, address

    // One target of a rule, and what the kernel has for it.
    struct Sought {
        const rules::Rule* rule;
        const rules::Target* target;
        KernelSearch search;
        bool is_excepted;  // `except` leaves nothing of what there is
    };

    void want_any(const rules::Rule& rule, const std::vector<const rules::Target*>& targets);
    // Nothing where this kernel lets no function be probed, which is said.
    std::optional<Sought> seek(const rules::Rule& rule, const rules::Target& target, bool thorough);
    void add(const rules::Rule& rule, const rules::Pattern& pattern,
             const std::vector<KernelFunction>& functions);
    const rules::Signature* signature_of(const KernelFunction& function);

    Diagnostic& problem(const rules::Rule& rule, const rules::Target& target, std::string message);
    void no_probes(const rules::Rule& rule, const rules::Target& target, const Error& why);
    void no_match(const Sought& sought);
    void none_of(const std::vector<Sought>& missing);
    void left_out(const rules::Target& target, const KernelSearch& search);

    rules::TypeTable& types_;
    Host& host_;
    Diagnostics& diagnostics_;
    std::map<Key, Probe> probes_;
    std::vector<Sought> missing_;  // of `optional` rules that have found nothing
    bool said_no_probes_ = false;
};

}  // namespace mlbcc::target
