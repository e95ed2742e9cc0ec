#include "target/kernel_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "target/forms.h"
#include "target/messages.h"
#include "target/probe_table.h"
#include "text/glob.h"

namespace mlbcc::target {
namespace {

// The compiler's own suffix need not be named.
bool is_excepted_in_any_form(const rules::Rule& rule, std::string_view symbol) {
    return is_excepted(rule, symbol.substr(0, symbol.find('.', 1))) || is_excepted(rule, symbol);
}

// What the rule does not want cannot be missed.
void forget_excepted(const rules::Rule& rule, KernelSearch& search) {
    const auto of_name = [&](const std::string& name) {
        return is_excepted_in_any_form(rule, name);
    };
    const auto of_function = [&](const KernelFunction& one) {
        return is_excepted_in_any_form(rule, one.symbol);
    };
    std::erase_if(search.functions, of_function);
    std::erase_if(search.unprobed, of_function);
    std::erase_if(search.blacklisted, of_name);
    std::erase_if(search.ambiguous, of_name);
}

const rules::Pattern& pattern_of(const rules::Target& target) {
    return std::get<rules::KernelTarget>(target.node).function;
}

// `rm_*` leaves out 177 functions of nvidia: `rm_init_rm`, `rm_ioctl`, ...
std::string unprobed_text(const std::string& pattern, const std::vector<KernelFunction>& unprobed) {
    std::vector<std::string> names, modules;
    for (const KernelFunction& one : unprobed) {
        names.push_back(one.symbol);
        if (std::ranges::find(modules, one.module) == modules.end()) modules.push_back(one.module);
    }
    return fmt::format("{} leaves out {} {} of {}: {}", quoted(pattern), names.size(),
                       names.size() == 1 ? "function" : "functions", fmt::join(modules, ", "),
                       listed(names));
}

}  // namespace

void KernelTable::want(const rules::Rule& rule) {
    std::vector<const rules::Target*> targets;
    for (const rules::Target& target : rule.targets) {
        if (std::holds_alternative<rules::KernelTarget>(target.node)) targets.push_back(&target);
    }
    if (rule.optional) return want_any(rule, targets);
    for (const rules::Target* target : targets) {
        const std::optional<Sought> sought = seek(rule, *target, true);
        if (!sought) return;  // the others of the rule cannot be, either
        if (sought->search.functions.empty()) no_match(*sought);
    }
}

// Functions of an `optional` rule are alternatives: what one version of a module has, another calls
// otherwise. Where none is there it is said, in one note for all such rules.
void KernelTable::want_any(const rules::Rule& rule,
                           const std::vector<const rules::Target*>& targets) {
    std::vector<Sought> missing;
    for (const bool thorough : {false, true}) {
        missing.clear();
        for (const rules::Target* target : targets) {
            std::optional<Sought> sought = seek(rule, *target, thorough);
            if (!sought) return;
            if (sought->search.functions.empty()) missing.push_back(std::move(*sought));
        }
        if (missing.size() < targets.size()) return;
    }
    std::ranges::move(missing, std::back_inserter(missing_));
}

std::optional<KernelTable::Sought> KernelTable::seek(const rules::Rule& rule,
                                                     const rules::Target& target, bool thorough) {
    const rules::Pattern& pattern = pattern_of(target);
    Result<KernelSearch> search =
        host_.kernel_functions(pattern.text, thorough || is_glob(pattern.text));
    if (!search) {
        no_probes(rule, target, search.error());
        return std::nullopt;
    }
    const bool found = !search->functions.empty();
    forget_excepted(rule, *search);
    add(rule, pattern, search->functions);
    const bool is_left = !search->functions.empty();
    if (is_left) left_out(target, *search);
    return Sought{&rule, &target, std::move(*search), found && !is_left};
}

void KernelTable::add(const rules::Rule& rule, const rules::Pattern& pattern,
                      const std::vector<KernelFunction>& functions) {
    const RuleUse use{&rule, nullptr, NamePattern(pattern.text, kNoVariants).exactness()};
    for (const KernelFunction& one : functions) {
        const auto [found, is_new] =
            probes_.try_emplace(Key{one.symbol, one.module, one.address}, Probe{one, nullptr, {}});
        Probe& probe = found->second;
        add_use(probe.uses, use);
        if (is_new) probe.signature = signature_of(one);
    }
}

// The kernel knows best. Most modules that are built elsewhere say nothing of their types.
const rules::Signature* KernelTable::signature_of(const KernelFunction& function) {
    const rules::Signature* known = host_.kernel_signature(function, types_);
    if (known != nullptr || function.symbol != function.base) return known;
    return types_.function(function.base);
}

std::vector<Probe> KernelTable::take() {
    if (missing_.size() == 1) {
        no_match(missing_.front());
    } else if (!missing_.empty()) {
        none_of(missing_);
    }
    missing_.clear();
    return take_all(probes_);
}

Diagnostic& KernelTable::problem(const rules::Rule& rule, const rules::Target& target,
                                 std::string message) {
    if (!rule.optional) return diagnostics_.error(target.span, std::move(message));
    return diagnostics_.aside(target.span, std::move(message)).labelled("left out");
}

// Of rules that are `optional` it is said once for all.
void KernelTable::no_probes(const rules::Rule& rule, const rules::Target& target,
                            const Error& why) {
    const std::string message = "functions of the kernel cannot be traced on this machine";
    if (rule.optional) {
        if (std::exchange(said_no_probes_, true)) return;
        diagnostics_.note({}, fmt::format("{}: {}", message, why.message()));
        return;
    }
    Diagnostic& said = diagnostics_.error(target.span, message).note(why.message());
    if (!why.help.empty()) said.help(why.help);
    said.help("mark the rule `optional` to go on without this target");
}

void KernelTable::no_match(const Sought& sought) {
    const auto& [rule, target, search, excepted] = sought;
    const std::string& name = pattern_of(*target).text;
    if (excepted) {
        problem(*rule, *target, fmt::format("`except` leaves no function of {}", quoted(name)));
        return;
    }
    if (!search.blacklisted.empty()) {
        problem(*rule, *target,
                fmt::format("the kernel allows no probes on {}", listed(search.blacklisted)))
            .note("/sys/kernel/debug/kprobes/blacklist lists all of them");
        return;
    }
    if (!search.ambiguous.empty()) {
        problem(*rule, *target, fmt::format("several functions are called {}", quoted(name)))
            .help("their addresses tell them apart: sysctl -w kernel.kptr_restrict=1 shows them");
        return;
    }
    Diagnostic& said =
        problem(*rule, *target, fmt::format("no function of the kernel matches {}", quoted(name)));
    said.note(fmt::format("searched the {} functions of the kernel and its modules, as they are "
                          "now",
                          search.known));
    if (is_glob(name)) return;
    said.note("the compiler may have inlined it: then nothing calls it");
    if (const auto close = closest_name(name, host_.kernel_names())) {
        said.help(fmt::format("there is one with a similar name: {}", quoted(*close)));
    }
}

// Of several it would be too much to say what each may have been meant to be.
void KernelTable::none_of(const std::vector<Sought>& missing) {
    std::vector<std::string> names;
    for (const Sought& one : missing) {
        const std::string& name = pattern_of(*one.target).text;
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    diagnostics_.aside({}, fmt::format("no function of the kernel matches {}: left out, as the "
                                       "rules are `optional`",
                                       listed(names)));
}

// Some of what a pattern matches cannot be traced; the others can.
void KernelTable::left_out(const rules::Target& target, const KernelSearch& search) {
    const std::string& name = pattern_of(target).text;
    if (!search.blacklisted.empty()) {
        diagnostics_
            .note(target.span,
                  fmt::format("{} leaves out {}", quoted(name), listed(search.blacklisted)))
            .note("the kernel allows no probes on these functions");
    }
    if (!search.ambiguous.empty()) {
        diagnostics_
            .note(target.span,
                  fmt::format("{} leaves out {}", quoted(name), listed(search.ambiguous)))
            .note("several functions are called so, and the kernel hides their addresses: see "
                  "kernel.kptr_restrict");
    }
    if (!search.unprobed.empty()) {
        diagnostics_.note(target.span, unprobed_text(name, search.unprobed))
            .note("they were built without places for probes");
    }
}

}  // namespace mlbcc::target
