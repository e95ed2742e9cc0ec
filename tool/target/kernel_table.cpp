#include "target/kernel_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/glob.h"
#include "target/forms.h"
#include "target/messages.h"
#include "target/probe_table.h"

namespace mlbcc::target {
namespace {

const Variants kNoVariants;

bool is_excepted(const rules::Rule& rule, const KernelFunction& function) {
    return std::ranges::any_of(rule.except, [&](const rules::Glob& glob) {
        return glob_match(glob.pattern, function.base) || glob_match(glob.pattern, function.symbol);
    });
}

const rules::Pattern& pattern_of(const rules::Target& target) {
    return std::get<rules::KernelTarget>(target.node).function;
}

}  // namespace

void KernelTable::want(const rules::Rule& rule) {
    for (const rules::Target& target : rule.targets) {
        if (!std::holds_alternative<rules::KernelTarget>(target.node)) continue;
        if (!want(rule, target)) return;  // the others of the rule cannot be, either
    }
}

bool KernelTable::want(const rules::Rule& rule, const rules::Target& target) {
    const rules::Pattern& pattern = pattern_of(target);
    const Result<KernelSearch> search = host_.kernel_functions(pattern.text);
    if (!search) {
        no_probes(rule, target, search.error());
        return false;
    }
    const bool found = !search->functions.empty();
    if (add(rule, pattern, search->functions) == 0) {
        if (found) {
            problem(rule, target,
                    fmt::format("`except` leaves no function of {}", quoted(pattern.text)));
        } else {
            no_match(rule, target, *search);
        }
    } else {
        left_out(target, *search);
    }
    return true;
}

size_t KernelTable::add(const rules::Rule& rule, const rules::Pattern& pattern,
                        const std::vector<KernelFunction>& functions) {
    const RuleUse use{&rule, nullptr, NamePattern(pattern.text, kNoVariants).exactness()};
    size_t kept = 0;
    for (const KernelFunction& one : functions) {
        if (is_excepted(rule, one)) continue;
        ++kept;
        const auto [found, is_new] =
            probes_.try_emplace(Key{one.symbol, one.module, one.address}, Probe{one, nullptr, {}});
        Probe& probe = found->second;
        add_use(probe.uses, use);
        if (is_new) probe.signature = host_.kernel_signature(one, types_);
    }
    return kept;
}

std::vector<Probe> KernelTable::take() {
    std::vector<Probe> all;
    for (auto& [key, probe] : probes_) {
        std::ranges::sort(probe.uses, is_weaker);
        all.push_back(std::move(probe));
    }
    probes_.clear();
    return all;
}

Diagnostic& KernelTable::problem(const rules::Rule& rule, const rules::Target& target,
                                 std::string message) {
    if (!rule.optional) return diagnostics_.error(target.span, std::move(message));
    return diagnostics_.note(target.span, std::move(message)).labelled("left out");
}

// Of rules that are `optional` it is said once for all.
void KernelTable::no_probes(const rules::Rule& rule, const rules::Target& target,
                            const Error& why) {
    if (rule.optional && std::exchange(said_no_probes_, true)) return;
    Diagnostic& said =
        problem(rule, target, "functions of the kernel cannot be traced on this machine");
    said.note(why.message());
    if (rule.optional) return;
    if (!why.help.empty()) said.help(why.help);
    said.help("mark the rule `optional` to go on without this target");
}

void KernelTable::no_match(const rules::Rule& rule, const rules::Target& target,
                           const KernelSearch& search) {
    const std::string& name = pattern_of(target).text;
    if (!search.blacklisted.empty()) {
        problem(rule, target,
                fmt::format("the kernel keeps probes off {}", listed(search.blacklisted)))
            .note("/sys/kernel/debug/kprobes/blacklist has the functions that it does so for");
        return;
    }
    if (!search.ambiguous.empty()) {
        problem(rule, target, fmt::format("several functions are called {}", quoted(name)))
            .help("their addresses tell them apart: sysctl -w kernel.kptr_restrict=1 shows them");
        return;
    }
    Diagnostic& said =
        problem(rule, target, fmt::format("no function of the kernel matches {}", quoted(name)));
    said.note(fmt::format("looked at the {} functions of the kernel and its modules, as they are "
                          "now",
                          search.known));
    if (is_glob(name)) return;
    said.note("the compiler may have inlined it: then nothing calls it");
    if (const auto close = closest_name(name, host_.kernel_names())) {
        said.help(fmt::format("there is one with a similar name: {}", quoted(*close)));
    }
}

// Some of what a pattern matches cannot be traced; the others can.
void KernelTable::left_out(const rules::Target& target, const KernelSearch& search) {
    const std::string& name = pattern_of(target).text;
    if (!search.blacklisted.empty()) {
        diagnostics_
            .note(target.span,
                  fmt::format("{} leaves out {}", quoted(name), listed(search.blacklisted)))
            .note("the kernel keeps probes off these functions");
    }
    if (!search.ambiguous.empty()) {
        diagnostics_
            .note(target.span,
                  fmt::format("{} leaves out {}", quoted(name), listed(search.ambiguous)))
            .note("several functions are called so, and the kernel hides their addresses: see "
                  "kernel.kptr_restrict");
    }
}

}  // namespace mlbcc::target
