#include "plan/planner.h"

#include <algorithm>
#include <utility>

#include "plan/aggregates.h"
#include "plan/clauses.h"
#include "plan/probe_layout.h"
#include "plan/shape_keys.h"
#include "plan/stored_values.h"
#include "plan/syscall_ends.h"

namespace mlbcc::plan {
namespace {

void name(const target::AttachPoint& at, ProbePlan& probe) {
    struct Visitor {
        ProbePlan& probe;
        void operator()(const target::UserFunction& function) {
            probe.function = function.base;
            probe.symbol = function.symbol;
            probe.stacks = function.stacks.stacks();
        }
        void operator()(const target::KernelFunction& function) {
            probe.kind = ProbeKind::kernel;
            probe.function = function.base;
            probe.symbol = function.symbol;
        }
        void operator()(const target::Syscall& syscall) {
            probe.kind = ProbeKind::syscall;
            probe.function = probe.symbol = syscall.name;
        }
        void operator()(const target::Tracepoint& tracepoint) {
            probe.kind = ProbeKind::tracepoint;
            probe.ends = target::Ends::moment;
            probe.function = probe.symbol = tracepoint.name;
        }
        void operator()(const target::Defined& defined) {
            probe.kind = ProbeKind::defined;
            probe.ends =
                defined.definition->completes ? target::Ends::completion : target::Ends::moment;
            probe.function = probe.symbol = defined.definition->name;
        }
        void operator()(const target::Usdt& usdt) {
            probe.kind = ProbeKind::usdt;
            probe.ends = target::Ends::moment;
            probe.function = probe.symbol = usdt.probe.name;
        }
        void operator()(const target::Interval&) {
            probe.kind = ProbeKind::interval;
            probe.ends = target::Ends::moment;
            probe.function = probe.symbol = "interval";
        }
    };
    std::visit(Visitor{probe}, at);
}

// Of those that Go passes in registers, as many as C does; where the others are depends on their
// types.
void locate_go_arguments(Arch arch, ProbePlan& probe) {
    const uint32_t registers = argument_registers(arch);
    for (uint32_t i = 0; i <= rules::kMaxArg; ++i) {
        const auto kind = i < registers ? ArgSlot::Kind::reg : ArgSlot::Kind::none;
        probe.slots.push_back({{kind, i}});
    }
}

ProbePlan begin(const PlanBuilder& builder, const target::Probe& target) {
    ProbePlan probe;
    probe.probe = &target;
    probe.signature = target.signature;
    name(target.at, probe);
    if (target.signature != nullptr && is_function(probe.kind)) {
        probe.slots = locate_arguments(*target.signature, *builder.plan.types, builder.plan.arch);
    } else if (probe.is_of_go()) {
        locate_go_arguments(builder.plan.arch, probe);
    } else if (target.signature != nullptr && probe.kind == ProbeKind::syscall) {
        for (uint32_t i = 0; i < target.signature->params.size(); ++i)
            probe.slots.push_back({{ArgSlot::Kind::reg, i}});
    }
    return probe;
}

bool has_room(PlanBuilder& builder, const ProbePlan& probe, const rules::Rule& rule) {
    if (probe.parts.size() < kMaxHits) return true;
    Diagnostics found;
    found
        .error(rule.head_span,
               "more than " + std::to_string(kMaxHits) + " rules match `" + probe.symbol + "`")
        .help("join rules, or narrow their targets");
    builder.report(found);
    return false;
}

void plan_rule(PlanBuilder& builder, ProbePlan& probe, ProbeRecords& records,
               const rules::Rule& rule) {
    if (!has_room(builder, probe, rule)) return;
    const bool entry =
        rule.entry || probe.ends == target::Ends::moment || counts_beginnings(builder, probe, rule);
    RuleOnProbe planned(builder, probe, records, rule, entry);
    ClausePlanner clauses(planned);
    clauses.plan_where();
    for (const rules::Clause& one : rule.clauses) clauses.plan(one);
    if (planned.part.at_entry || planned.part.at_return)
        probe.parts.push_back(std::move(planned.part));
}

// What the function returns is in the record of each call's end.
void add_returned(ProbePlan& probe, ProbeRecords& records, const rules::TypedPtr& ret) {
    if (!probe.ret || !probe.ret_type) return;
    RecordPlan& record = *probe.ret;
    if (probe.ret_type->kind == ValueType::Kind::text) {
        record.ret_field = records.capture(record, ret);
    } else {
        record.ret_field = static_cast<uint32_t>(record.layout.fields.size());
        record.layout.fields.push_back({.type = *probe.ret_type});
    }
}

void choose_shapes(PlanBuilder& builder, ProbePlan& probe) {
    if (probe.has_entry()) probe.entry_shape = builder.shape(rules::Stage::entry, entry_key(probe));
    if (probe.has_return())
        probe.return_shape = builder.shape(rules::Stage::ret, return_key(probe));
}

}  // namespace

void PlanBuilder::report(const Diagnostics& found) {
    for (const Diagnostic& one : found.all()) {
        if (!reported.insert({one.span.file, one.span.begin}).second) continue;
        Diagnostic& kept = one.severity == Diagnostic::Severity::error
                               ? diagnostics.error(one.span, one.message)
                               : diagnostics.warning(one.span, one.message);
        kept.label = one.label;
        kept.attachments = one.attachments;
    }
}

// The shape of this key; a new one has the probe that is planned now as its example.
ShapeId PlanBuilder::shape(rules::Stage end, std::string key) {
    auto next = static_cast<ShapeId>(plan.shapes.size());
    auto [found, is_new] = plan.shape_ids.try_emplace(std::move(key), next);
    if (is_new) plan.shapes.push_back({next, end, static_cast<ProbeId>(plan.probes.size())});
    return found->second;
}

std::optional<ProbePlan> plan_probe(PlanBuilder& builder, const target::Probe& target) {
    ProbePlan probe = begin(builder, target);
    ProbeRecords records(probe, *builder.plan.types);
    for (const target::RuleUse& use : target.uses) plan_rule(builder, probe, records, *use.rule);
    probe.until_known = std::ranges::all_of(
        target.uses, [](const target::RuleUse& use) { return use.rule->until_known; });
    if (probe.parts.empty()) return std::nullopt;
    const rules::TypedPtr ret = rules::check_ret(scope_of(builder, probe, false));
    if (ret) probe.ret_type = value_type(*ret);
    if (probe.kind == ProbeKind::syscall)
        probe.ends = ends_of_syscall(probe, builder.probes_functions);
    ProbeLayout layout(probe, builder.plan.arch,
                       [&](const Diagnostics& found) { builder.report(found); });
    layout.save_for_return();
    add_returned(probe, records, ret);
    layout.lay_out();
    if (probe.kind == ProbeKind::interval) return probe;
    layout.find_text_words();
    if (const auto* at = std::get_if<target::UserFunction>(&target.at))
        builder.plan.asks_for_python |= probe.ends_at_instructions() && at->stacks.of_python();
    choose_shapes(builder, probe);
    return probe;
}

}  // namespace mlbcc::plan
