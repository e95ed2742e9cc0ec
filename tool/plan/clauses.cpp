// What each clause of a rule adds to a probe: record fields, what they mean, in-kernel aggregates.
#include <algorithm>

#include "plan/planner.h"

namespace mlbcc::plan {
namespace {

constexpr uint32_t kUntypedArgs = 6;  // `args` of a function without a prototype

std::string text_of(const Span& span) {
    if (span.file == nullptr) return {};
    return std::string(span.file->text().substr(span.begin, span.end - span.begin));
}

}  // namespace

void ProbePlanner::clause(RuleContext& context, const rules::Clause& one) {
    struct Visitor {
        ProbePlanner& self;
        RuleContext& context;
        const rules::Clause& one;
        void operator()(const rules::SpanClause& c) { self.span(context, c, one.span); }
        void operator()(const rules::EventClause& c) { self.event(context, c); }
        void operator()(const rules::CountClause& c) {
            self.aggregate(context, one, AggregateKind::count, nullptr, c.by, c.label);
        }
        void operator()(const rules::SumClause& c) {
            self.aggregate(context, one, AggregateKind::sum, c.value.get(), c.by, c.label);
        }
        void operator()(const rules::HistClause& c) {
            self.aggregate(context, one, AggregateKind::hist, c.value.get(), c.by, c.label);
        }
        void operator()(const rules::GaugeClause& c) { self.gauge(context, c); }
        void operator()(const rules::LearnClause& c) { self.learn(context, c); }
        void operator()(const rules::StackClause& c) { self.stack(c, one.span); }
        void operator()(const rules::SampleClause&) {  // RulePart::sample
            self.refuse_of_looks(one.span, "`sample` keeps some calls of many, and an interval "
                                           "has none");
        }
    };
    std::visit(Visitor{*this, context, one}, one.node);
}

void ProbePlanner::refuse_of_looks(const Span& where, const char* why) {
    if (probe_.kind != ProbeKind::interval) return;
    Diagnostics found;
    found.error(where, why).help("remove it, or give the interval a rule of its own");
    builder_.report(found);
}

// What is taken is in RuleContext.
void ProbePlanner::stack(const rules::StackClause& clause, const Span& where) {
    refuse_of_looks(where, "a `stack` is a thread's, and an interval looks at whole processes");
    bool of_program = probe_.kind == ProbeKind::function || probe_.kind == ProbeKind::usdt;
    if (clause.kind != rules::StackKind::kernel || !of_program) return;
    Diagnostics found;
    found.error(where, "a function of a program has no kernel stack")
        .note("while it runs, the kernel does nothing but to run the probe in it")
        .help("take `stack user`, or give what the kernel does for the program a rule of its own, "
              "as `syscall:`, `sched:` or `kernel:`");
    builder_.report(found);
}

RecordPlan& ProbePlanner::record(rules::Stage stage) {
    auto& slot = stage == rules::Stage::entry ? probe_.entry : probe_.ret;
    if (!slot) slot.emplace();
    return *slot;
}

RecordPlan& ProbePlanner::work_record(RuleContext& context) {
    (context.at_entry() ? context.part.at_entry : context.part.at_return) = true;
    return record(context.at_entry() ? rules::Stage::entry : rules::Stage::ret);
}

uint32_t ProbePlanner::capture(RecordPlan& record, const rules::TypedPtr& value) {
    std::string text = rules::to_text(*value);
    for (const Capture& known : record.captures) {
        if (rules::to_text(*known.value) == text) return known.field;
    }
    auto index = static_cast<uint32_t>(record.layout.fields.size());
    record.layout.fields.push_back({.type = value_type(*value), .size = stored_size(*value)});
    record.captures.push_back({value, index});
    return index;
}

std::vector<ProbePlanner::Named> ProbePlanner::all_args(const RuleContext& context) {
    std::vector<Named> all;
    uint32_t count = probe_.signature != nullptr
                         ? static_cast<uint32_t>(probe_.signature->params.size())
                         : kUntypedArgs;
    if (probe_.kind == ProbeKind::interval) count = target::kProcessFieldCount;  // no changes
    for (uint32_t i = 0; i < count; ++i) {
        rules::TypedPtr value = rules::check_param(i, context.scope);
        if (!value) continue;
        std::string name = probe_.signature != nullptr ? probe_.signature->params[i].name : "";
        if (name.empty()) name = "arg" + std::to_string(i);
        all.push_back({std::move(name), std::move(value)});
    }
    return all;
}

std::vector<ProbePlanner::Named> ProbePlanner::fields(RuleContext& context,
                                                      const std::vector<rules::Field>& wanted) {
    std::vector<Named> all;
    for (const rules::Field& field : wanted) {
        if (field.is_args()) {
            for (Named& one : all_args(context)) all.push_back(std::move(one));
        } else if (rules::TypedPtr value = checked(context, *field.value)) {
            all.push_back({field.name, std::move(value)});
        }
    }
    return all;
}

// Fields of the same name: the rule planned later is the more exact one, and wins where it applies.
// They stand together, and of those that apply the last is shown.
void ProbePlanner::add_field(std::vector<NamedField>& list, const Named& named, uint32_t index,
                             const RuleContext& context) {
    auto alike = [&](const NamedField& known) { return known.name == named.name; };
    auto first = std::ranges::find_if(list, alike);
    auto end = std::find_if_not(first, list.end(), alike);
    if (first != end && std::prev(end)->field == index) {
        std::prev(end)->mask |= context.bit;
        return;
    }
    bool always = !context.part.conditional() && context.part.return_where.empty();
    if (always) end = list.erase(first, end);
    list.insert(end, {named.name, index, context.bit});
}

// The record's emit of this kind and name, made if it is not there yet.
template <class Emit_>
Emit& ProbePlanner::joined(RecordPlan& plan, RuleContext& context, Emit_ wanted) {
    for (Emit& known : plan.emits) {
        const auto* same = std::get_if<Emit_>(&known.what);
        if (same == nullptr || same->type != wanted.type) continue;
        if constexpr (std::is_same_v<Emit_, EventEmit>) {
            if (same->name != wanted.name) continue;
        }
        known.mask |= context.bit;
        known.rule = context.part.rule;
        known.stack |= context.stack;
        known.python |= context.python;
        known.kernel |= context.kernel;
        return known;
    }
    plan.emits.push_back({context.bit, context.part.rule, context.stack, context.python,
                          std::move(wanted), context.kernel});
    return plan.emits.back();
}

void ProbePlanner::span(RuleContext& context, const rules::SpanClause& clause, const Span& where) {
    if (context.at_entry()) {
        Diagnostics found;
        std::string what = context.rule.entry                   ? "`on entry` acts at one"
                           : probe_.kind == ProbeKind::interval ? "a look at a process is a moment"
                                                                : "a tracepoint is a moment";
        Diagnostic& error = found.error(where, "a `span` has two ends, and " + what);
        error.help(context.rule.entry ? "remove `entry`, or use `event`" : "use `event`");
        builder_.report(found);
        return;
    }
    context.part.at_entry = context.part.at_return = true;
    RecordPlan& begin = record(rules::Stage::entry);
    RecordPlan& end = record(rules::Stage::ret);
    std::vector<Named> named = fields(context, clause.fields);
    auto add = [&](RecordPlan& plan, rules::Stage stage) {
        bool begins = stage == rules::Stage::entry;  // where stacks are taken
        RuleContext here{context.rule,
                         context.scope,
                         context.bit,
                         begins && context.stack,
                         begins && context.python,
                         begins && context.kernel,
                         {}};
        here.part.rule = context.part.rule;
        size_t at =
            static_cast<size_t>(&joined(plan, here, SpanEmit{clause.type, {}}) - plan.emits.data());
        for (const Named& one : named) {
            if (one.value->stage != stage) continue;
            uint32_t index = capture(plan, one.value);
            add_field(std::get<SpanEmit>(plan.emits[at].what).fields, one, index, context);
        }
    };
    add(begin, rules::Stage::entry);
    add(end, rules::Stage::ret);
}

void ProbePlanner::event(RuleContext& context, const rules::EventClause& clause) {
    RecordPlan& plan = work_record(context);
    std::vector<Named> named = fields(context, clause.fields);
    Emit& emit = joined(plan, context, EventEmit{clause.type, clause.name, {}});
    for (const Named& one : named) {
        uint32_t index = capture(plan, one.value);
        add_field(std::get<EventEmit>(emit.what).fields, one, index, context);
    }
}

void ProbePlanner::gauge(RuleContext& context, const rules::GaugeClause& clause) {
    rules::TypedPtr value = checked(context, *clause.value);
    rules::TypedPtr key = clause.key ? checked(context, *clause.key) : nullptr;
    if (!value || (clause.key && !key)) return;
    Diagnostics found;
    if (value->is_text() || std::holds_alternative<rules::LearntNode>(value->node)) {
        found.error(value->span, "a gauge is a number");
    }
    if (key && key->is_text()) found.error(key->span, "the key of a gauge is a number");
    builder_.report(found);
    if (found.has_errors()) return;
    RecordPlan& plan = work_record(context);
    GaugeEmit emit{.name = clause.name, .op = clause.op};
    if (key) emit.key = capture(plan, key);
    emit.value = capture(plan, value);
    plan.emits.push_back({context.bit, context.part.rule, context.stack, context.python,
                          std::move(emit), context.kernel});
}

void ProbePlanner::learn(RuleContext& context, const rules::LearnClause& clause) {
    rules::TypedPtr key = checked(context, *clause.key);
    rules::TypedPtr value = checked(context, *clause.value);
    if (!value || !key) return;
    if (key->is_text()) {
        Diagnostics found;
        found.error(key->span, "the key of a learnt table is a number")
            .help("a handle or an address is a number; what is learnt for it may be text");
        builder_.report(found);
        return;
    }
    RecordPlan& plan = work_record(context);
    LearnEmit emit{clause.table, capture(plan, key), capture(plan, value)};
    plan.emits.push_back({context.bit, context.part.rule, false, false, std::move(emit)});
}

void ProbePlanner::aggregate(RuleContext& context, const rules::Clause& clause, AggregateKind kind,
                             const rules::Expr* value, const std::vector<rules::ExprPtr>& by,
                             const std::optional<std::string>& label) {
    AggregateUse use;
    use.hit = context.bit;
    use.at_entry = context.at_entry();
    if (value != nullptr) {
        use.value = checked(context, *value);
        if (!use.value) return;
        if (use.value->is_text() || std::holds_alternative<rules::LearntNode>(use.value->node)) {
            Diagnostics found;
            found.error(value->span, "only numbers can be summed or measured")
                .labelled("this is text");
            builder_.report(found);
            return;
        }
    }
    for (const rules::ExprPtr& expr : by) {
        rules::TypedPtr part = checked(context, *expr);
        if (!part) return;
        use.by.push_back(std::move(part));
    }
    (context.at_entry() ? context.part.at_entry : context.part.at_return) = true;
    use.aggregate = aggregate_id(context, clause, kind, use, by, label);
    const Aggregate& shared = builder_.plan.aggregates[static_cast<uint32_t>(use.aggregate)];
    for (size_t i = 0; i < use.by.size(); ++i) {
        if (stored_size(*use.by[i]) == shared.by[i].field.size) continue;
        Diagnostics found;
        found
            .error(by[i]->span,
                   "`" + text_of(by[i]->span) + "` is not of one kind in all functions")
            .note("in `" + probe_.symbol + "` it takes another size than in the first function")
            .help("split the rule");
        builder_.report(found);
        return;
    }
    probe_.aggregates.push_back(std::move(use));
}

AggregateId ProbePlanner::aggregate_id(RuleContext& context, const rules::Clause& clause,
                                       AggregateKind kind, const AggregateUse& use,
                                       const std::vector<rules::ExprPtr>& by,
                                       const std::optional<std::string>& label) {
    auto next = static_cast<AggregateId>(builder_.plan.aggregates.size());
    auto [found, is_new] = builder_.plan.aggregate_ids.try_emplace(&clause, next);
    if (!is_new) return found->second;
    Aggregate made{.id = next, .rule = context.part.rule, .kind = kind};
    if (use.value) {
        made.unit = use.value->unit;
        made.is_signed = use.value->show == rules::Show::signed_int;
    }
    std::string value_text = use.value ? text_of(use.value->span) : "count";
    made.label = label ? *label : value_text;
    uint32_t offset = 0;
    bool learnt = false;
    for (size_t i = 0; i < use.by.size(); ++i) {
        Field field{value_type(*use.by[i]), offset, stored_size(*use.by[i])};
        learnt |= !field.type.learnt_table.empty();
        offset += field.size;
        made.by.push_back({text_of(by[i]->span), std::move(field)});
    }
    if (learnt) {  // names are learnt by process
        made.by.push_back({"", {ValueType{ValueType::Kind::unsigned_int, 4}, offset, 8}});
        offset += 8;
    }
    made.key_size = offset;
    builder_.plan.aggregates.push_back(std::move(made));
    return next;
}

}  // namespace mlbcc::plan
