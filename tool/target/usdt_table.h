// Targets that are probes which programs bring along: `usdt:python3:python:gc__*` becomes each
// place of each probe of that name in the file of that name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "target/target.h"

namespace mlbcc::target {

class UsdtTable {
public:
    UsdtTable(const rules::RuleSet& rules, rules::TypeTable& types, Host& host,
              Diagnostics& diagnostics)
        : rules_(rules), types_(types), host_(host), diagnostics_(diagnostics) {}

    // Calls come rule by rule.
    void want(const rules::Rule& rule, const rules::Target& target);
    // By file, provider, name and place.
    std::vector<Probe> take();

private:
    struct Request {
        const rules::Rule& rule;
        const rules::Target& target;
        const rules::UsdtTarget& wanted;
        std::vector<std::string> files;  // that were found
    };
    LibrarySearch find_files(const Request& request);
    LibrarySearch without_scripts(LibrarySearch all);
    Result<const UsdtProbes*> read(const std::string& path);
    void unreadable(const Request& request, const std::string& path, const Error& why);
    Diagnostic& problem(const Request& request, const std::string& message, bool is_error = false);
    void not_found(const Request& request, const LibrarySearch& search);
    void no_match(const Request& request, bool excepted);
    void want_all(const Request& request, const std::string& path, const UsdtProbes& probes,
                  size_t& matched, size_t& kept);
    const rules::Signature* signature(const UsdtProbe& probe);
    rules::TypeId argument_type(const UsdtArgument& argument);

    const rules::RuleSet& rules_;
    rules::TypeTable& types_;
    Host& host_;
    Diagnostics& diagnostics_;
    std::map<std::string, UsdtProbes> files_;  // by path
    std::map<std::string, Probe> probes_;
};

}  // namespace mlbcc::target
