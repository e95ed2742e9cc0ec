// Targets that are functions of the kernel or of its modules: each that some rule wants becomes one
// probe, with the parameters that the kernel's type information gives it.
#pragma once

#include <map>
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
    // By symbol, then module.
    std::vector<Probe> take();

private:
    using Key = std::tuple<std::string, std::string, uint64_t>;  // symbol, module, address

    // False where this kernel lets no function be probed.
    bool want(const rules::Rule& rule, const rules::Target& target);
    // How many of the functions the rule gets.
    size_t add(const rules::Rule& rule, const rules::Pattern& pattern,
               const std::vector<KernelFunction>& functions);

    Diagnostic& problem(const rules::Rule& rule, const rules::Target& target, std::string message);
    void no_probes(const rules::Rule& rule, const rules::Target& target, const Error& why);
    void no_match(const rules::Rule& rule, const rules::Target& target, const KernelSearch& search);
    void left_out(const rules::Target& target, const KernelSearch& search);

    rules::TypeTable& types_;
    Host& host_;
    Diagnostics& diagnostics_;
    std::map<Key, Probe> probes_;
    bool said_no_probes_ = false;
};

}  // namespace mlbcc::target
