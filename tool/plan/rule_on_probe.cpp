#include "plan/rule_on_probe.h"

#include <algorithm>
#include <utility>

#include "plan/rule_asks.h"

namespace mlbcc::plan {
namespace {

constexpr uint32_t kUntypedArgs = 6;  // `args` of a function without a prototype

bool names_file(const rules::Typed& part) {
    const auto* text = std::get_if<rules::TextNode>(&part.node);
    return text != nullptr && text->of_file;
}

bool asks_for_python(const rules::Typed& part) {
    const auto* unary = std::get_if<rules::UnaryNode>(&part.node);
    return unary != nullptr && unary->op == rules::UnaryOp::in_python;
}

bool asks_for_function(const rules::Typed& part) {
    const auto* learnt = std::get_if<rules::LearntNode>(&part.node);
    return learnt != nullptr && learnt->table == rules::kFunctionAt;
}

// Whether it can be read at all.
bool is_known(const rules::Typed& value, const ProbePlan& probe, Arch arch) {
    return !rules::any_part(value, [&](const rules::Typed& part) {
        const auto* leaf = std::get_if<rules::ParamLeaf>(&part.node);
        return leaf != nullptr && probe.is_of_go() && leaf->index >= argument_registers(arch);
    });
}

}  // namespace

rules::Scope scope_of(const PlanBuilder& builder, const ProbePlan& probe, bool entry) {
    return {builder.plan.types,
            probe.signature,
            &builder.tables,
            &builder.gauges,
            probe.function,
            probe.symbol,
            entry,
            probe.ends == target::Ends::moment,
            builder.keep_mangled,
            probe.kind == ProbeKind::interval,
            probe.kind == ProbeKind::defined};
}

RuleOnProbe::RuleOnProbe(PlanBuilder& in, ProbePlan& on, ProbeRecords& its, const rules::Rule& one,
                         bool entry)
    : builder(in), probe(on), records(its), rule(one), scope(scope_of(in, on, entry)),
      bit(1u << on.parts.size()), stack(wanted_stacks(one)) {
    scope.lets = &rule.lets;
    part.rule = static_cast<RuleId>(rule.index);
    part.entry = entry;
    part.sample = sample_of(rule);
    part.all = rule.all;
    part.traced_only =
        !rule.all && std::ranges::any_of(probe.probe->uses, [](const target::RuleUse& other) {
            return other.rule->all;
        });
}

rules::TypedPtr RuleOnProbe::checked(const rules::Expr& expr) {
    Diagnostics found;
    rules::TypedPtr value = rules::check(expr, scope, found);
    if (value && !is_known(*value, probe, builder.plan.arch)) {
        found.error(expr.span, "it is not known where this argument of a Go function is")
            .note(std::to_string(argument_registers(builder.plan.arch)) +
                  " can be read: arg(0), ...");
        value = nullptr;
    }
    builder.report(found);
    if (!value) return value;
    Plan& plan = builder.plan;
    plan.asks_for_files |= rules::any_part(*value, names_file);
    plan.asks_for_python |= rules::any_part(*value, asks_for_python);
    plan.asks_for_functions |= rules::any_part(*value, asks_for_function);
    plan.asks_for_task |= rules::any_part(*value, rules::is_of_task);
    return value;
}

rules::TypedPtr RuleOnProbe::number(const rules::Expr& expr, const char* what) {
    rules::TypedPtr value = checked(expr);
    if (!value) return nullptr;
    const auto* learnt = std::get_if<rules::LearntNode>(&value->node);
    if (learnt != nullptr && learnt->as == rules::LearntAs::shown && learnt->key->in_tracer) {
        return rules::learnt_as(value, rules::LearntAs::number);
    }
    return is_integer(*value, what) ? value : nullptr;
}

bool RuleOnProbe::is_integer(const rules::Typed& value, const std::string& what) {
    const bool is_real = value.show == rules::Show::floating;
    if (!value.is_text() && !is_real) return true;
    Diagnostics found;
    found.error(value.span, what + " is " + (is_real ? "an integer" : "a number"))
        .labelled(is_real ? "this is a floating-point number" : "this is text");
    builder.report(found);
    return false;
}

std::vector<AskedValue> RuleOnProbe::all_args() const {
    std::vector<AskedValue> all;
    uint32_t count = probe.signature != nullptr
                         ? static_cast<uint32_t>(probe.signature->params.size())
                         : kUntypedArgs;
    if (probe.kind == ProbeKind::interval) count = target::kProcessFieldCount;  // no changes
    for (uint32_t i = 0; i < count; ++i) {
        rules::TypedPtr value = rules::check_param(i, scope);
        if (!value) continue;
        std::string name = probe.signature != nullptr ? probe.signature->params[i].name : "";
        if (name.empty()) name = "arg" + std::to_string(i);
        all.push_back({std::move(name), std::move(value)});
    }
    return all;
}

std::vector<AskedValue> RuleOnProbe::fields(const std::vector<rules::Field>& wanted, bool lists) {
    std::vector<AskedValue> all;
    scope.lists = lists;
    for (const rules::Field& field : wanted) {
        if (field.is_args()) {
            for (AskedValue& one : all_args()) all.push_back(std::move(one));
        } else if (rules::TypedPtr value = checked(*field.value)) {
            all.push_back({field.name, std::move(value)});
        }
    }
    scope.lists = false;
    return all;
}

RecordPlan& RuleOnProbe::work_record() {
    (at_entry() ? part.at_entry : part.at_return) = true;
    return records.at(at_entry() ? rules::Stage::entry : rules::Stage::ret);
}

// The key, end, owner or value of something that is kept: a name that was learnt is a number here.
LatePtr RuleOnProbe::late_number(const rules::ExprPtr& expr, const char* what) {
    rules::TypedPtr value = number(*expr, what);
    if (!value) return nullptr;
    if (rules::is_name_of_key(*value)) value = rules::learnt_as(value, rules::LearntAs::number);
    return records.late(work_record(), value);
}

void RuleOnProbe::add_emit(RecordPlan& record, decltype(Emit::what) what,
                           const rules::StackKinds& with) {
    record.spans.push_back(span);
    record.emits.push_back({bit, part.rule, with, std::move(what)});
}

}  // namespace mlbcc::plan
