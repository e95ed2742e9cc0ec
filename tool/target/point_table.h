// Targets that are no functions of libraries: system calls, tracepoints, intervals. Each place that
// some rule wants becomes one probe, with the parameters that the kernel's own description gives
// it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "target/target.h"
#include "target/usdt_table.h"

namespace mlbcc::target {

class PointTable {
public:
    PointTable(const rules::RuleSet& rules, rules::TypeTable& types, Host& host,
               Diagnostics& diagnostics)
        : rules_(rules), types_(types), host_(host), diagnostics_(diagnostics),
          usdt_(rules, types, host, diagnostics) {}

    // What the rule wants besides functions of libraries. Calls come rule by rule.
    void want(const rules::Rule& rule);
    // By kind, then name.
    std::vector<Probe> take();

private:
    void want(const rules::Rule& rule, const rules::Target& target);
    void want_syscalls(const rules::Rule& rule, const rules::Target& target);
    void want_tracepoints(const rules::Rule& rule, const rules::Target& target);
    void want_defined(const rules::Rule& rule, const rules::Target& target);
    bool add_defined(Probe& probe, const rules::Rule& rule, const rules::Target& target,
                     const rules::ProbeDefinition& definition);
    Result<uint32_t> offset(const std::string& what);
    const std::vector<SyscallName>& syscalls(const rules::Target& target);
    const std::vector<std::string>& tracepoints(const rules::Target& target);

    Probe& probe(const std::string& key, const rules::Rule& rule, uint32_t exactness);
    const rules::Signature* syscall_signature(const SyscallName& syscall);
    bool add_tracepoint(Probe& probe, const rules::Target& target, const std::string& category,
                        const std::string& name);
    void want_interval(const rules::Rule& rule, uint64_t period_ns);
    void no_match(const rules::Rule& rule, const rules::Target& target, std::string_view what,
                  const std::string& pattern, const std::vector<std::string>& names, bool excepted);

    const rules::RuleSet& rules_;
    rules::TypeTable& types_;
    Host& host_;
    Diagnostics& diagnostics_;
    UsdtTable usdt_;
    std::map<std::string, Probe> probes_;  // by "syscall:openat"
    std::optional<std::vector<SyscallName>> syscalls_;
    std::optional<std::vector<std::string>> tracepoints_;
    std::optional<rules::TypeId> syscall_result_;
};

}  // namespace mlbcc::target
