#include "commands/list.h"

#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "files/paths.h"
#include "host/live_host.h"
#include "session/views.h"
#include "text/glob.h"
#include "text/output.h"
#include "text/tell.h"

namespace mlbcc::commands {
namespace {

int show(const std::set<std::string>& names, size_t known, std::string_view of) {
    for (const std::string& name : names) print_output("{}\n", name);
    print_error("{} of {} {}\n", names.size(), known, of);
    return names.empty() ? kExitFailure : 0;
}

int show_matching(const std::string& glob, const std::vector<std::string>& names,
                  std::string_view of) {
    std::set<std::string> found;
    for (const std::string& name : names) {
        if (glob_match(glob, name)) found.insert(name);
    }
    return show(found, names.size(), of);
}

int list_syscalls(host::LiveHost& host, const std::string& glob) {
    auto known = host.syscalls();
    if (!known) return tell(known.error());
    std::vector<std::string> names;
    for (const target::SyscallName& one : *known) names.push_back(one.name);
    return show_matching(glob, names, "system calls");
}

int list_tracepoints(host::LiveHost& host, const std::string& glob) {
    auto known = host.tracepoints();
    if (!known) return tell(known.error());
    const bool both = glob.find(':') != std::string::npos;
    return show_matching(both ? glob : glob + ":*", *known, "tracepoints");
}

int list_kernel(host::LiveHost& host, const std::string& glob) {
    auto found = host.kernel_functions(glob, true);
    if (!found) return tell(found.error());
    std::set<std::string> names;
    for (const target::KernelFunction& one : found->functions) names.insert(one.symbol);
    return show(names, found->known, "functions of the kernel");
}

// The files that go by the name; none where that has been told of.
std::vector<std::string> find(host::LiveHost& host, const std::string& name) {
    target::LibrarySearch found = host.find_library(name, files::working_folder());
    if (found.paths.empty()) {
        tell(Error{fmt::format("library `{}` was not found", name)});
        for (const std::string& place : found.searched)
            print_error("   = note: searched {}\n", place);
    }
    return std::move(found.paths);
}

int list_usdt(host::LiveHost& host, const std::string& pattern) {
    const size_t colon = pattern.find(':');
    const std::string glob = colon == std::string::npos ? "*" : pattern.substr(colon + 1);
    int status = kExitFailure;
    for (const std::string& path : find(host, pattern.substr(0, colon))) {
        auto known = host.usdt(path);
        if (!known) return tell(known.error());
        std::vector<std::string> names;
        for (const target::UsdtProbe& one : known->probes)
            names.push_back(one.provider + ":" + one.name);
        const bool both = glob.find(':') != std::string::npos || glob == "*";
        if (show_matching(both ? glob : glob + ":*", names, "probes in " + path) == 0) status = 0;
    }
    return status;
}

int list_library(host::LiveHost& host, const std::string& pattern) {
    const size_t colon = pattern.find(':');
    int status = kExitFailure;
    for (const std::string& path : find(host, pattern.substr(0, colon))) {
        auto symbols = host.symbols(path);
        if (!symbols) return tell(symbols.error());
        std::set<std::string> names;
        for (const target::Symbol& one : symbols->functions) {
            if (target::name_matches(pattern.substr(colon + 1), one.name)) names.insert(one.name);
        }
        if (show(names, symbols->functions.size(), "functions in " + path) == 0) status = 0;
    }
    return status;
}

}  // namespace

int list_pattern(const std::string& pattern) {
    host::LiveHost host({session::own_view()});
    const size_t colon = pattern.find(':');
    const std::string kind = pattern.substr(0, colon), rest = pattern.substr(colon + 1);
    if (kind == "syscall") return list_syscalls(host, rest);
    if (kind == "tracepoint") return list_tracepoints(host, rest);
    if (kind == "kernel") return list_kernel(host, rest);
    if (kind == "usdt") return list_usdt(host, rest);
    return list_library(host, pattern);
}

}  // namespace mlbcc::commands
