#include "target/point_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "target/forms.h"
#include "target/messages.h"
#include "target/probe_table.h"
#include "target/process_fields.h"
#include "target/trace_types.h"
#include "text/glob.h"

namespace mlbcc::target {
namespace {

// The description of a field that every tracepoint of system calls begins with.
bool is_parameter(const TraceField& field) {
    return field.name != "__syscall_nr";
}

// System calls of an `optional` rule are alternatives: not every kind of machine has all of them.
bool has_another(const rules::Rule& rule, const std::vector<SyscallName>& all) {
    return rule.optional && std::ranges::any_of(rule.targets, [&](const rules::Target& target) {
               const auto* wanted = std::get_if<rules::SyscallTarget>(&target.node);
               if (wanted == nullptr) return false;
               const NamePattern pattern(wanted->name.text, kNoVariants);
               return std::ranges::any_of(
                   all, [&](const SyscallName& one) { return pattern.matches(one.name); });
           });
}

}  // namespace

void PointTable::want(const rules::Rule& rule) {
    for (const rules::Target& target : rule.targets) want(rule, target);
}

void PointTable::want(const rules::Rule& rule, const rules::Target& target) {
    struct Visitor {
        PointTable& self;
        const rules::Rule& rule;
        const rules::Target& target;
        void operator()(const rules::FunctionTarget&) {}  // resolve.cpp
        void operator()(const rules::SyscallTarget&) { self.want_syscalls(rule, target); }
        void operator()(const rules::TracepointTarget&) { self.want_tracepoints(rule, target); }
        void operator()(const rules::KernelTarget&) {}  // kernel_table.cpp
        void operator()(const rules::UsdtTarget&) { self.usdt_.want(rule, target); }
        void operator()(const rules::DefinedTarget&) { self.want_defined(rule, target); }
        void operator()(const rules::IntervalTarget& interval) {
            self.want_interval(rule, interval.period_ns);
        }
    };
    std::visit(Visitor{*this, rule, target}, target.node);
}

Probe& PointTable::probe(const std::string& key, const rules::Rule& rule, uint32_t exactness) {
    Probe& found = probes_[key];
    add_use(found.uses, {&rule, nullptr, exactness});
    return found;
}

std::vector<Probe> PointTable::take() {
    std::vector<Probe> all = take_all(probes_);
    std::ranges::move(usdt_.take(), std::back_inserter(all));
    return all;
}

void PointTable::no_match(const rules::Rule& rule, const rules::Target& target,
                          std::string_view what, const std::string& pattern,
                          const std::vector<std::string>& names, bool excepted) {
    std::string message = excepted
                              ? fmt::format("`except` leaves no {} of {}", what, quoted(pattern))
                              : fmt::format("no {} matches {}", what, quoted(pattern));
    if (excepted) {
        diagnostics_.error(target.span, message);
        return;
    }
    const auto close = closest_name(pattern, names);
    if (rule.optional && !close) {
        diagnostics_.aside({}, message + ": left out, as the rule is `optional`");
        return;
    }
    Diagnostic& problem = rule.optional ? diagnostics_.note(target.span, message)
                                        : diagnostics_.error(target.span, message);
    problem.note(fmt::format("searched the {} {}s of this kernel", names.size(), what));
    if (close) problem.help(fmt::format("there is one with a similar name: {}", quoted(*close)));
}

// ---- system calls

const std::vector<SyscallName>& PointTable::syscalls(const rules::Target& target) {
    if (!syscalls_) {
        Result<std::vector<SyscallName>> read = host_.syscalls();
        syscalls_.emplace();
        if (read) {
            syscalls_ = std::move(*read);
        } else {
            diagnostics_.error(target.span, "cannot find this kernel's system calls")
                .note(read.error().message());
        }
    }
    return *syscalls_;
}

void PointTable::want_syscalls(const rules::Rule& rule, const rules::Target& target) {
    const rules::Pattern& wanted = std::get<rules::SyscallTarget>(target.node).name;
    const NamePattern pattern(wanted.text, kNoVariants);
    const std::vector<SyscallName>& all = syscalls(target);
    if (all.empty()) return;
    size_t matched = 0, kept = 0;
    for (const SyscallName& one : all) {
        if (!pattern.matches(one.name)) continue;
        ++matched;
        if (is_excepted(rule, one.name)) continue;
        ++kept;
        Probe& found = probe("syscall:" + one.name, rule, pattern.exactness());
        if (found.signature != nullptr) continue;
        found.at = Syscall{one.name, one.number};
        found.signature = syscall_signature(one);
    }
    if (kept > 0 || (matched == 0 && has_another(rule, all))) return;
    std::vector<std::string> names;
    for (const SyscallName& one : all) names.push_back(one.name);
    no_match(rule, target, "system call", wanted.text, names, matched > 0);
}

const rules::Signature* PointTable::syscall_signature(const SyscallName& syscall) {
    if (!syscall_result_) syscall_result_ = target::syscall_result(types_);
    rules::Signature made;
    made.name = syscall.name;
    made.ret = *syscall_result_;
    Result<TracepointFormat> format =
        host_.tracepoint("syscalls", "sys_enter_" + syscall.tracepoint);
    if (format) {
        for (const TraceField& field : format->fields) {
            if (is_parameter(field)) {
                made.params.push_back({field.name, syscall_parameter(field, types_)});
            }
        }
    } else {
        made.variadic = true;  // its parameters are not known: arg(0) to arg(5)
    }
    return types_.keep(std::move(made));
}

// ---- tracepoints

const std::vector<std::string>& PointTable::tracepoints(const rules::Target& target) {
    if (!tracepoints_) {
        Result<std::vector<std::string>> read = host_.tracepoints();
        tracepoints_.emplace();
        if (read) {
            tracepoints_ = std::move(*read);
        } else {
            Diagnostic& error =
                diagnostics_.error(target.span, "cannot find this kernel's tracepoints");
            error.note(read.error().message());
            if (!read.error().help.empty()) error.help(read.error().help);
        }
    }
    return *tracepoints_;
}

void PointTable::want_tracepoints(const rules::Rule& rule, const rules::Target& target) {
    const auto& wanted = std::get<rules::TracepointTarget>(target.node);
    const std::string pattern = wanted.category.text + ":" + wanted.name.text;
    const NamePattern names(wanted.name.text, kNoVariants);
    const std::vector<std::string>& all = tracepoints(target);
    if (all.empty()) return;
    size_t matched = 0, kept = 0;
    for (const std::string& one : all) {
        const size_t colon = one.find(':');
        const std::string category = one.substr(0, colon), name = one.substr(colon + 1);
        if (!glob_match(wanted.category.text, category) || !names.matches(name)) continue;
        ++matched;
        if (is_excepted(rule, name)) continue;
        ++kept;
        Probe& found = probe("tracepoint:" + one, rule, names.exactness());
        if (found.signature == nullptr && !add_tracepoint(found, target, category, name)) {
            probes_.erase("tracepoint:" + one);
        }
    }
    if (kept == 0) no_match(rule, target, "tracepoint", pattern, all, matched > 0);
}

bool PointTable::add_tracepoint(Probe& probe, const rules::Target& target,
                                const std::string& category, const std::string& name) {
    Result<TracepointFormat> format = host_.tracepoint(category, name);
    if (!format) {
        diagnostics_
            .error(target.span,
                   fmt::format("the tracepoint `{}:{}` cannot be traced", category, name))
            .note(format.error().message());
        return false;
    }
    rules::Signature made;
    made.name = category + ":" + name;
    made.ret = types_.add({"void", rules::VoidType{}});
    for (const TraceField& field : format->fields) {
        made.params.push_back({field.name, trace_field(field, types_)});
    }
    probe.at = Tracepoint{category, name, format->id, std::move(format->fields)};
    probe.signature = types_.keep(std::move(made));
    return true;
}

// ---- probes that templates define

void PointTable::want_defined(const rules::Rule& rule, const rules::Target& target) {
    const auto& wanted = std::get<rules::DefinedTarget>(target.node);
    const NamePattern pattern(wanted.name.text, kNoVariants);
    std::vector<std::string> names;
    size_t matched = 0, kept = 0;
    for (const rules::ProbeDefinition& one : rules_.definitions) {
        const std::string full = one.group + ":" + one.name;
        names.push_back(full);
        if (one.group != wanted.group || !pattern.matches(one.name)) continue;
        ++matched;
        if (is_excepted(rule, one.name)) continue;
        ++kept;
        Probe& found = probe("defined:" + full, rule, pattern.exactness());
        if (found.signature == nullptr && !add_defined(found, rule, target, one)) {
            probes_.erase("defined:" + full);
        }
    }
    if (kept > 0) return;
    no_match(rule, target, "probe", wanted.group + ":" + wanted.name.text, names, matched > 0);
}

// Its fields are the members of its structure, which libclang has read.
bool PointTable::add_defined(Probe& probe, const rules::Rule& rule, const rules::Target& target,
                             const rules::ProbeDefinition& definition) {
    const rules::Signature* prototype = types_.function(definition.prototype());
    const rules::RecordType* fields = nullptr;
    if (prototype != nullptr && prototype->params.size() == 1) {
        fields = std::get_if<rules::RecordType>(&types_[prototype->params[0].type].kind);
    }
    if (fields == nullptr) {
        diagnostics_
            .error(target.span, fmt::format("the fields of `{}:{}` cannot be read",
                                            definition.group, definition.name))
            .note("they are in " + definition.file);
        return false;
    }
    Defined at{&definition, {}};
    for (const std::string& what : definition.offsets) {
        Result<uint32_t> found = offset(what);
        if (!found) {
            const auto message =
                fmt::format("this kernel has no `{}:{}`", definition.group, definition.name);
            Diagnostic& problem = rule.optional ? diagnostics_.aside(target.span, message)
                                                : diagnostics_.error(target.span, message);
            problem.note(found.error().message());
            return false;
        }
        at.offsets.push_back(*found);
    }
    rules::Signature made;
    made.name = definition.group + ":" + definition.name;
    for (const rules::RecordField& field : fields->fields) {
        made.params.push_back({field.name, field.type});
    }
    made.ret = types_.add({"void", rules::VoidType{}});  // `fields` may have moved
    probe.at = std::move(at);
    probe.signature = types_.keep(std::move(made));
    return true;
}

// "block:block_rq_issue.sector", "task_struct.tgid"
Result<uint32_t> PointTable::offset(const std::string& what) {
    const size_t colon = what.find(':'), dot = what.rfind('.');
    if (colon == std::string::npos) return host_.kernel_offset(what);
    const std::string field = what.substr(dot + 1);
    Result<TracepointFormat> format =
        host_.tracepoint(what.substr(0, colon), what.substr(colon + 1, dot - colon - 1));
    if (!format) return format.error();
    for (const TraceField& one : format->fields) {
        if (one.name == field) return one.offset;
    }
    return Error{fmt::format("the tracepoint of `{}` has no field `{}`", what, field)};
}

// ---- looks at processes

void PointTable::want_interval(const rules::Rule& rule, uint64_t period_ns) {
    for (const rules::Glob& except : rule.except) {
        diagnostics_.error(except.span, "`except` takes functions out, and an interval has none")
            .help("remove it, or use `where`: `where comm != \"python3\"`");
    }
    const std::string name = fmt::format("interval:{}", period_text(period_ns));
    Probe& found = probe(fmt::format("interval:{:020}", period_ns), rule, 0);
    if (found.signature != nullptr) return;
    found.at = Interval{period_ns};
    found.signature = types_.keep(interval_signature(name, types_));
}

}  // namespace mlbcc::target
