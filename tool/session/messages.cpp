#include "session/messages.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "process/proc.h"
#include "text/terminal_text.h"

namespace mlbcc::session {
namespace {

constexpr size_t kShownNames = 3;

// 12 functions: rm_alloc, rm_control, rm_free and 9 more
std::string names_of(const std::vector<std::string>& symbols) {
    if (symbols.size() == 1) return symbols.front();
    const size_t shown = std::min(symbols.size(), kShownNames);
    const auto end = symbols.begin() + static_cast<ptrdiff_t>(shown);
    std::string text =
        fmt::format("{} functions: {}", symbols.size(), fmt::join(symbols.begin(), end, ", "));
    if (symbols.size() > shown) text += fmt::format(" and {} more", symbols.size() - shown);
    return text;
}

}  // namespace

// SIGTRAP: the program ran into a breakpoint where the kernel has no probe, in a copy of its code.
void tell_signal(Verbosity verbosity, int wait_status, bool is_probed) {
    if (!WIFSIGNALED(wait_status)) return;
    const int signal = WTERMSIG(wait_status);
    const char* name = ::sigabbrev_np(signal);
    std::string said = fmt::format("the command was ended by SIG{}", name == nullptr ? "?" : name);
    if (signal == SIGTRAP && is_probed)
        said += "; a program that copies its own code to other memory (to huge pages, for "
                "instance) copies the breakpoints of probes, too, and ends so: turn that off, or "
                "trace functions of libraries only";
    tell_note(verbosity, said);
}

static const target::UserFunction& function_of(const plan::ProbePlan& probe) {
    return std::get<target::UserFunction>(probe.probe->at);
}

// Of functions of one file, and why the first of them shows no end.
static void tell_endless(Verbosity verbosity, const std::vector<std::string>& symbols,
                         const target::UserFunction& first, const std::string& why) {
    const bool one = symbols.size() == 1;
    tell_note(
        verbosity,
        fmt::format("{} of {} {} not traced: {}{}, so the end of a call cannot be seen, and a "
                    "return probe would harm the program ({}); trace {} `on entry`",
                    names_of(symbols), first.soname, one ? "is" : "are",
                    one ? "" : "of the first, ", why, first.stacks.why(), one ? "it" : "them"));
}

void tell_left_behind(Verbosity verbosity, std::vector<int> processes) {
    std::erase_if(processes, [](int pid) { return !process::is_alive(pid); });
    if (processes.empty()) return;
    std::string names;
    for (size_t i = 0; i < std::min(kShownNames, processes.size()); ++i) {
        names +=
            fmt::format("{}{} (PID {})", i == 0 ? "" : ", ",
                        on_terminal(process::comm_of(processes[i]).value_or("?")), processes[i]);
    }
    if (processes.size() > kShownNames)
        names += fmt::format(" and {} more", processes.size() - kShownNames);
    tell_note(verbosity, "the command has ended; what it started goes on, untraced: " + names);
}

void tell_refused(Verbosity verbosity, const std::vector<bpf::Refusal>& refused,
                  const plan::Plan& plan) {
    struct Endless {
        std::vector<std::string> symbols;
        const target::UserFunction* first = nullptr;
        std::string why;
    };
    std::map<int, std::vector<std::string>> by_reason;
    std::map<std::string, Endless> by_file;
    for (const bpf::Refusal& one : refused) {
        const plan::ProbePlan& probe = plan.probes[static_cast<uint32_t>(one.probe)];
        if (one.why.empty()) {
            by_reason[one.code].push_back(probe.symbol);
            continue;
        }
        Endless& endless = by_file[function_of(probe).path];
        if (endless.first == nullptr) endless = {{}, &function_of(probe), one.why};
        endless.symbols.push_back(probe.symbol);
    }
    for (const auto& [path, one] : by_file)
        tell_endless(verbosity, one.symbols, *one.first, one.why);
    for (const auto& [code, symbols] : by_reason) {
        tell_note(verbosity, fmt::format("the kernel will not probe {}: {}", names_of(symbols),
                                         std::strerror(code)));
    }
}

void tell_leaving(Verbosity verbosity, const std::vector<plan::ProbeId>& leaving,
                  const plan::Plan& plan) {
    std::map<std::string, std::vector<std::string>> by_file;
    for (const plan::ProbeId id : leaving) {
        const plan::ProbePlan& probe = plan.probes[static_cast<uint32_t>(id)];
        by_file[function_of(probe).soname].push_back(probe.symbol);
    }
    for (const auto& [file, symbols] : by_file) {
        tell_note(
            verbosity,
            fmt::format("calls of {} of {} end where they jump to another function, whose time "
                        "is not in theirs; `mlbcc explain` says where",
                        names_of(symbols), file));
    }
}

}  // namespace mlbcc::session
