#include "plan/aggregates.h"

#include <algorithm>
#include <utility>

#include "plan/stored_values.h"

namespace mlbcc::plan {
namespace {

bool is_for_kernel(const rules::TypedPtr& value) {
    return !value->in_tracer;
}

bool is_taken_stack(const rules::TypedPtr& value) {
    const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value->node);
    return leaf != nullptr && leaf->which == rules::Builtin::stack;
}

// A learnt name is known to the tracer alone: what its key is called changes while programs run.
bool in_kernel(const AggregateUse& use) {
    return std::ranges::all_of(use.by, is_for_kernel) && (!use.value || is_for_kernel(use.value));
}

class AggregatePlanner {
public:
    explicit AggregatePlanner(RuleOnProbe& rule)
        : rule_(rule), builder_(rule.builder), probe_(rule.probe), records_(rule.records) {}
    void plan(const Aggregation& wanted);

private:
    AggregateId aggregate_id(const Aggregation& wanted, const AggregateUse& use);
    bool fits(const Aggregation& wanted, const AggregateUse& use);
    bool calls_nest() const;
    void tally(const AggregateUse& use, const rules::TypedPtr& over);

    RuleOnProbe& rule_;
    PlanBuilder& builder_;
    ProbePlan& probe_;
    ProbeRecords& records_;
};

void AggregatePlanner::plan(const Aggregation& wanted) {
    AggregateUse use;
    use.hit = rule_.bit;
    use.span = wanted.clause.span;
    use.at_entry = rule_.at_entry();
    rules::TypedPtr over;
    if (wanted.value != nullptr) {
        use.value = rule_.number(*wanted.value, "what is summed or measured");
        if (!use.value) return;
        if (rules::is_name_of_key(*use.value)) {
            use.value = rules::learnt_as(use.value, rules::LearntAs::number);
        }
    }
    if (wanted.over != nullptr) {
        over = rule_.number(*wanted.over, "the time that a sum took");
        if (!over) return;
    }
    rule_.scope.has_stack = rule_.stack.any();
    for (const rules::Field& one : wanted.kept.by) use.by.push_back(rule_.checked(*one.value));
    rule_.scope.has_stack = false;
    if (std::ranges::find(use.by, nullptr) != use.by.end()) return;
    bool in_tracer =
        rule_.part.late_where || over || !in_kernel(use) || probe_.kind == ProbeKind::interval;
    use.aggregate = aggregate_id(wanted, use);
    Aggregate& shared = builder_.plan.aggregates[static_cast<uint32_t>(use.aggregate)];
    (in_tracer ? shared.in_tracer : shared.in_kernel) = true;
    if (in_tracer) return tally(use, over);
    if (!fits(wanted, use)) return;
    use.is_own_known = shared.own && calls_nest();
    (rule_.at_entry() ? rule_.part.at_entry : rule_.part.at_return) = true;
    probe_.aggregates.push_back(std::move(use));
}

// Whether each call of a thread lies within another or beside it.
bool AggregatePlanner::calls_nest() const {
    return is_function(probe_.kind) && !probe_.acts_at_end() && !probe_.moves();
}

void AggregatePlanner::tally(const AggregateUse& use, const rules::TypedPtr& over) {
    RecordPlan& plan = rule_.work_record();
    TallyEmit emit{use.aggregate, {}, nullptr, nullptr};
    for (const rules::TypedPtr& part : use.by) emit.by.push_back(records_.late(plan, part));
    if (use.value) emit.value = records_.late(plan, use.value);
    if (over) emit.over = records_.late(plan, over);
    if (std::ranges::any_of(use.by, is_taken_stack))
        return rule_.add_emit(plan, std::move(emit), rule_.stack);
    rule_.add_emit(plan, std::move(emit));
}

// All functions share one map.
bool AggregatePlanner::fits(const Aggregation& wanted, const AggregateUse& use) {
    const Aggregate& shared = builder_.plan.aggregates[static_cast<uint32_t>(use.aggregate)];
    for (size_t i = 0; i < use.by.size(); ++i) {
        if (stored_size(*use.by[i]) == shared.by[i].field.size) continue;
        Diagnostics found;
        found
            .error(wanted.kept.by[i].value->span,
                   "`" + wanted.kept.by[i].name + "` is not of one kind in all functions")
            .note("in `" + probe_.symbol + "` it takes another size than in the first function")
            .help("split the rule");
        builder_.report(found);
        return false;
    }
    return true;
}

AggregateId AggregatePlanner::aggregate_id(const Aggregation& wanted, const AggregateUse& use) {
    const bool is_signed = use.value && rules::may_be_negative(*use.value, *builder_.plan.types);
    auto next = static_cast<AggregateId>(builder_.plan.aggregates.size());
    auto [found, is_new] = builder_.plan.aggregate_ids.try_emplace(&wanted.clause, next);
    if (!is_new) {
        Aggregate& known = builder_.plan.aggregates[static_cast<uint32_t>(found->second)];
        // Of a function's forms an old one may have a plain number.
        if (use.value && known.unit == rules::Unit::none) known.unit = use.value->unit;
        // Maps are laid out by it.
        known.is_signed |= is_signed && !builder_.grows;
        return found->second;
    }
    Aggregate made{.id = next, .rule = rule_.part.rule, .kind = wanted.kind};
    if (use.value) {
        made.unit = use.value->unit;
        made.is_signed = is_signed;
    }
    made.every_ns = wanted.kept.every_ns;
    std::string value_text = use.value ? std::string(use.value->span.text()) : "count";
    made.is_named = wanted.kept.label.has_value();
    made.label = wanted.kept.label ? *wanted.kept.label : value_text;
    uint32_t offset = 0;
    for (size_t i = 0; i < use.by.size(); ++i) {
        RecordSlot field{value_type(*use.by[i]), offset, stored_size(*use.by[i])};
        offset += field.size;
        made.by.push_back({wanted.kept.by[i].name, std::move(field)});
    }
    made.key_size = offset;
    if (is_duration(use) && calls_nest() && builder_.plan.owns() < kMostOwn)
        made.own = builder_.plan.owns();
    builder_.plan.aggregates.push_back(std::move(made));
    return next;
}

}  // namespace

bool is_duration(const AggregateUse& use) {
    const auto* leaf = use.value ? std::get_if<rules::BuiltinLeaf>(&use.value->node) : nullptr;
    return leaf != nullptr && leaf->which == rules::Builtin::duration;
}

void plan_aggregate(RuleOnProbe& rule, const Aggregation& wanted) {
    AggregatePlanner(rule).plan(wanted);
}

bool counts_beginnings(const PlanBuilder& builder, const ProbePlan& probe,
                       const rules::Rule& rule) {
    if (!is_function(probe.kind)) return false;
    rules::Scope beginning = scope_of(builder, probe, true);
    beginning.lets = &rule.lets;
    beginning.has_stack = true;
    const auto checked = [&](const rules::ExprPtr& expr) {
        Diagnostics found;
        rules::TypedPtr value = rules::check(*expr, beginning, found);
        return found.has_errors() ? nullptr : value;
    };
    const auto is_known = [&](const rules::ExprPtr& expr) {
        const rules::TypedPtr value = checked(expr);
        return value && is_for_kernel(value);
    };
    const auto are_groups_known = [&](const rules::Kept& kept) {
        return std::ranges::all_of(kept.by, [&](const rules::Field& one) {
            const rules::TypedPtr value = checked(one.value);
            return value &&
                   (is_for_kernel(value) || rules::is_name_of_key(*value) || is_taken_stack(value));
        });
    };
    size_t counts = 0;
    for (const rules::Clause& clause : rule.clauses) {
        const auto* count = std::get_if<rules::CountClause>(&clause.node);
        const auto* sum = std::get_if<rules::SumClause>(&clause.node);
        const auto* hist = std::get_if<rules::HistClause>(&clause.node);
        if (std::holds_alternative<rules::SampleClause>(clause.node) ||
            std::holds_alternative<rules::StackClause>(clause.node))
            continue;
        const bool so =
            (count != nullptr && are_groups_known(count->kept)) ||
            (sum != nullptr && !sum->over && is_known(sum->value) && are_groups_known(sum->kept)) ||
            (hist != nullptr && is_known(hist->value) && are_groups_known(hist->kept));
        if (!so) return false;
        ++counts;
    }
    return counts > 0 && std::ranges::all_of(rule.where, is_known);
}

}  // namespace mlbcc::plan
