#include "plan/clauses.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "plan/aggregates.h"
#include "plan/rule_asks.h"

namespace mlbcc::plan {

void ClausePlanner::plan_where() {
    for (const rules::ExprPtr& expr : rule_.rule.where) {
        rules::TypedPtr condition = rule_.checked(*expr);
        if (!condition) continue;
        if (std::holds_alternative<rules::LearntNode>(condition->node)) {
            condition = rules::learnt_as(condition, rules::LearntAs::number);
        }
        if (condition->is_text() || condition->show == rules::Show::floating) {
            Diagnostics found;
            found.error(expr->span, "a condition is a number or a comparison")
                .labelled(condition->is_text() ? "this is text"
                                               : "this is a floating-point number");
            builder_.report(found);
            continue;
        }
        for (rules::TypedPtr& part : rules::conjuncts(condition)) {
            if (!records_.can_have(*part)) {
                late_where(part);
                continue;
            }
            auto& list = part->stage == rules::Stage::entry ? rule_.part.entry_where
                                                            : rule_.part.return_where;
            if (part->stage == rules::Stage::ret && wants_span(rule_.rule)) {
                Diagnostics found;
                found.error(expr->span, "a `span` begins before this is known")
                    .labelled("known when the call returns")
                    .help("use `event`, which is written when the call returns, or a condition on "
                          "what is known at entry");
                builder_.report(found);
                continue;
            }
            list.push_back(std::move(part));
        }
    }
}

// Decided from the record, so there must be one.
void ClausePlanner::late_where(const rules::TypedPtr& part) {
    if (wants_span(rule_.rule)) {
        Diagnostics found;
        found.error(part->span, "a `span` begins in the kernel, and this is known to the tracer")
            .help("use `event`, which the tracer may leave out");
        builder_.report(found);
        return;
    }
    RecordPlan& plan = rule_.work_record();
    rule_.part.late_where = true;
    rule_.span = part->span;
    rule_.add_emit(plan, ConditionEmit{records_.late(plan, part)});
}

void ClausePlanner::plan(const rules::Clause& one) {
    rule_.span = one.span;
    struct Visitor {
        ClausePlanner& self;
        const rules::Clause& one;
        void operator()(const rules::SpanClause& c) { self.span(c, one.span); }
        void operator()(const rules::EventClause& c) { self.event(c.type, c.name, c.fields); }
        void operator()(const rules::CountClause& c) {
            plan_aggregate(self.rule_, {one, AggregateKind::count, c.kept});
        }
        void operator()(const rules::SumClause& c) {
            plan_aggregate(self.rule_,
                           {one, AggregateKind::sum, c.kept, c.value.get(), c.over.get()});
        }
        void operator()(const rules::HistClause& c) {
            plan_aggregate(self.rule_, {one, AggregateKind::hist, c.kept, c.value.get()});
        }
        void operator()(const rules::GaugeClause& c) { self.gauge(c); }
        void operator()(const rules::LearnClause& c) { self.learn(c); }
        void operator()(const rules::LargestClause&) { self.largest(one); }
        void operator()(const rules::TraceClause& c) { self.trace(c, one.span); }
        void operator()(const rules::StackClause& c) { self.stack(c, one.span); }
        void operator()(const rules::SampleClause&) {  // RulePart::sample
            self.refuse_of_looks(one.span, "`sample` selects calls, and an interval has none");
        }
    };
    std::visit(Visitor{*this, one}, one.node);
}

void ClausePlanner::refuse_of_looks(const Span& where, const char* why) {
    if (probe_.kind != ProbeKind::interval) return;
    Diagnostics found;
    found.error(where, why).help("remove it, or give the interval a rule of its own");
    builder_.report(found);
}

// What is taken is in RuleOnProbe.
void ClausePlanner::stack(const rules::StackClause& clause, const Span& where) {
    refuse_of_looks(where, "a `stack` is a thread's, and an interval looks at whole processes");
    bool of_program = probe_.kind == ProbeKind::function || probe_.kind == ProbeKind::usdt;
    if (clause.kind != rules::StackKind::kernel || !of_program) return;
    Diagnostics found;
    found.error(where, "a function of a program has no kernel stack")
        .note("while it runs, the kernel runs only the probe in it")
        .help("take `stack user`, or give what the kernel does for the program a rule of its own, "
              "as `syscall:`, `sched:` or `kernel:`");
    builder_.report(found);
}

// The record's emit of this kind and name, made if it is not there yet.
template <class Emit_>
Emit& ClausePlanner::joined(RecordPlan& plan, Emit_ wanted, const rules::StackKinds& stack) {
    for (Emit& known : plan.emits) {
        const auto* same = std::get_if<Emit_>(&known.what);
        if (same == nullptr || same->type != wanted.type) continue;
        if constexpr (std::is_same_v<Emit_, EventEmit>) {
            if (same->name != wanted.name) continue;
        }
        plan.spans.push_back(rule_.span);
        known.mask |= rule_.bit;
        known.rule = rule_.part.rule;
        known.stack.add(stack);
        return known;
    }
    rule_.add_emit(plan, std::move(wanted), stack);
    return plan.emits.back();
}

// Fields of the same name: the rule planned later is the more exact one, and wins where it applies.
// They stand together, and of those that apply the last is shown.
void ClausePlanner::add_field(std::vector<NamedField>& list, NamedField field) {
    auto alike = [&](const NamedField& known) { return known.name == field.name; };
    auto first = std::ranges::find_if(list, alike);
    auto end = std::find_if_not(first, list.end(), alike);
    if (first != end && !field.late && !std::prev(end)->late &&
        std::prev(end)->field == field.field) {
        std::prev(end)->mask |= field.mask;
        return;
    }
    bool always =
        !rule_.part.conditional() && rule_.part.return_where.empty() && !rule_.part.late_where;
    if (always) end = list.erase(first, end);
    list.insert(end, std::move(field));
}

void ClausePlanner::span(const rules::SpanClause& clause, const Span& where) {
    if (rule_.at_entry()) {
        Diagnostics found;
        std::string what = rule_.rule.entry
                               ? "needs both ends of a call, and `on entry` acts at the first"
                           : probe_.kind == ProbeKind::interval
                               ? "needs a call; a look at a process has no duration"
                               : "needs a call; a tracepoint has no duration";
        Diagnostic& error = found.error(where, "a `span` " + what);
        error.help(rule_.rule.entry ? "remove `entry`, or use `event`" : "use `event`");
        builder_.report(found);
        return;
    }
    // What overlaps with others in its thread, and ends in any, is told as a whole.
    if (probe_.moves()) return event(clause.type, "", clause.fields);
    rule_.part.at_entry = rule_.part.at_return = true;
    RecordPlan& begin = records_.at(rules::Stage::entry);
    RecordPlan& end = records_.at(rules::Stage::ret);
    std::vector<AskedValue> named = rule_.fields(clause.fields, true);
    auto add = [&](RecordPlan& plan, rules::Stage stage) {
        const bool begins = stage == rules::Stage::entry;  // where stacks are taken
        Emit& emit =
            joined(plan, SpanEmit{clause.type, {}}, begins ? rule_.stack : rules::StackKinds());
        const auto at = static_cast<size_t>(&emit - plan.emits.data());
        for (const AskedValue& one : named) {
            if (one.value->stage != stage) continue;
            NamedField field = records_.named_field(plan, one, rule_.bit);
            add_field(std::get<SpanEmit>(plan.emits[at].what).fields, std::move(field));
        }
    };
    add(begin, rules::Stage::entry);
    add(end, rules::Stage::ret);
}

void ClausePlanner::event(const std::string& type, const std::string& name,
                          const std::vector<rules::Field>& asked) {
    RecordPlan& plan = rule_.work_record();
    std::vector<AskedValue> named = rule_.fields(asked, true);
    Emit& emit = joined(plan, EventEmit{type, name, {}}, rule_.stack);
    for (const AskedValue& one : named) {
        NamedField field = records_.named_field(plan, one, rule_.bit);
        add_field(std::get<EventEmit>(emit.what).fields, std::move(field));
    }
}

void ClausePlanner::gauge(const rules::GaugeClause& clause) {
    GaugeEmit emit{.name = clause.name, .op = clause.op};
    if (clause.key) {
        rules::TypedPtr key = rule_.number(*clause.key, "the key of a gauge");
        if (key) emit.key = records_.late(rule_.work_record(), key);
    }
    if (clause.value) emit.value = rule_.late_number(clause.value, "a gauge");
    if (clause.owner) emit.owner = rule_.late_number(clause.owner, "the owner in a gauge");
    if (clause.by.size() > 1) {
        Diagnostics found;
        found.error(clause.by[1].span, "a gauge has one group: name one value behind `by`")
            .help("use a gauge for each");
        return builder_.report(found);
    }
    if (!clause.by.empty()) {
        rules::TypedPtr group = rule_.checked(*clause.by[0].value);
        if (!group) return;
        emit.group = records_.late(rule_.work_record(), group);
        emit.group_name = clause.by[0].name;
    }
    bool whole =
        !clause.key == !emit.key && !clause.value == !emit.value && !clause.owner == !emit.owner;
    if (!whole) return;  // mistakes were told
    rule_.add_emit(rule_.work_record(), std::move(emit), rule_.stack);
}

// `learn t[key] = stack`, where no parameter is called so.
bool ClausePlanner::is_stack(const rules::LearnClause& clause) const {
    const auto* name = clause.value ? std::get_if<rules::NameExpr>(&clause.value->node) : nullptr;
    if (name == nullptr || name->name != "stack") return false;
    auto is_it = [](const rules::Param& param) { return param.name == "stack"; };
    return probe_.signature == nullptr || std::ranges::none_of(probe_.signature->params, is_it);
}

bool ClausePlanner::can_take_stack(const rules::LearnClause& clause) {
    Diagnostics found;
    const Span& where = clause.value->span;
    if (!rule_.stack.any()) {
        found.error(where, "the rule takes no stack that could be learnt")
            .help("add `stack user`, `stack kernel` or `stack python` to the rule");
    }
    if (clause.op != rules::LearnOp::set) {
        found.error(where, "a stack is learnt by `=`");
    }
    builder_.report(found);
    return !found.has_errors();
}

void ClausePlanner::learn(const rules::LearnClause& clause) {
    LearnEmit emit{clause.table, clause.op, nullptr, nullptr, nullptr};
    emit.key = rule_.late_number(clause.key, "the key of a learnt table");
    if (clause.end) emit.end = rule_.late_number(clause.end, "the end of a range of keys");
    emit.takes_stack = is_stack(clause);
    rules::TypedPtr value =
        clause.value && !emit.takes_stack ? rule_.checked(*clause.value) : nullptr;
    bool whole = emit.key && !clause.end == !emit.end &&
                 (emit.takes_stack ? can_take_stack(clause) : !clause.value == !value);
    // As an operand its bits would be taken for a number.
    if (value && value->show == rules::Show::floating)
        whole &= rule_.is_integer(*value, "what is learnt");
    if (!whole) return;
    RecordPlan& plan = rule_.work_record();
    if (emit.takes_stack) return rule_.add_emit(plan, std::move(emit), rule_.stack);
    if (value) {
        bool look_up = std::holds_alternative<rules::LearntNode>(value->node);
        emit.value = look_up ? records_.late_look_up(plan, *value) : records_.late(plan, value);
    }
    rule_.add_emit(plan, std::move(emit));
}

void ClausePlanner::largest(const rules::Clause& one) {
    const auto& clause = std::get<rules::LargestClause>(one.node);
    LargestEmit emit;
    emit.by = rule_.late_number(clause.by.value, "what is largest");
    std::vector<AskedValue> named = rule_.fields(clause.fields, false);
    if (!emit.by) return;
    RecordPlan& plan = rule_.work_record();
    emit.list = list_id(one, emit.by->type);
    for (const AskedValue& field : named)
        emit.fields.push_back(records_.named_field(plan, field, rule_.bit));
    rule_.add_emit(plan, std::move(emit), rule_.stack);
}

ListId ClausePlanner::list_id(const rules::Clause& one, const ValueType& by) {
    const auto& clause = std::get<rules::LargestClause>(one.node);
    std::vector<LargestList>& lists = builder_.plan.lists;
    auto [id, is_new] = builder_.plan.list_ids.try_emplace(&one, static_cast<ListId>(lists.size()));
    if (is_new) {
        lists.push_back({rule_.part.rule, clause.title, clause.by.name, clause.count, by.unit});
    }
    LargestList& list = lists[static_cast<uint32_t>(id->second)];
    list.is_signed |= may_be_negative(by, *builder_.plan.types);
    // Of a function's forms an old one may have a plain number.
    if (list.unit == rules::Unit::none) list.unit = by.unit;
    return id->second;
}

// The tracer needs both as they are, before any other record's turn.
void ClausePlanner::trace(const rules::TraceClause& clause, const Span& where) {
    Diagnostics found;
    if (probe_.kind != ProbeKind::function) {
        found.error(where, "`trace` is for functions of a library, which give addresses of others");
        return builder_.report(found);
    }
    rules::TypedPtr address = rule_.number(*clause.address, "the address of a function");
    rules::TypedPtr name = rule_.checked(*clause.name);
    if (!address || !name) return;
    if (!name->is_text()) {
        found.error(name->span, "the name of a function is text").labelled("this is a number");
    }
    for (const rules::TypedPtr& one : {address, name}) {
        if (records_.is_stored(*one)) continue;
        found.error(one->span, "`trace` needs what the call itself has")
            .labelled("this is known to the tracer only");
    }
    builder_.report(found);
    if (found.has_errors()) return;
    RecordPlan& plan = rule_.work_record();
    const uint32_t at = records_.capture(plan, address);
    rule_.add_emit(plan, TraceEmit{at, records_.capture(plan, name)});
}

}  // namespace mlbcc::plan
