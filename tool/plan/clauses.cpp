// What each clause of a rule adds to a probe: record fields, what they mean, in-kernel aggregates.
#include <algorithm>

#include "plan/planner.h"

namespace mlbcc::plan {
namespace {

constexpr uint32_t kUntypedArgs = 6;  // `args` of a function without a prototype

}  // namespace

void ProbePlanner::clause(RuleContext& context, const rules::Clause& one) {
    context.span = one.span;
    struct Visitor {
        ProbePlanner& self;
        RuleContext& context;
        const rules::Clause& one;
        void operator()(const rules::SpanClause& c) { self.span(context, c, one.span); }
        void operator()(const rules::EventClause& c) {
            self.event(context, c.type, c.name, c.fields);
        }
        void operator()(const rules::CountClause& c) {
            self.aggregate(context, {one, AggregateKind::count, c.kept});
        }
        void operator()(const rules::SumClause& c) {
            self.aggregate(context, {one, AggregateKind::sum, c.kept, c.value.get(), c.over.get()});
        }
        void operator()(const rules::HistClause& c) {
            self.aggregate(context, {one, AggregateKind::hist, c.kept, c.value.get()});
        }
        void operator()(const rules::GaugeClause& c) { self.gauge(context, c); }
        void operator()(const rules::LearnClause& c) { self.learn(context, c); }
        void operator()(const rules::LargestClause&) { self.largest(context, one); }
        void operator()(const rules::TraceClause& c) { self.trace(context, c, one.span); }
        void operator()(const rules::StackClause& c) { self.stack(c, one.span); }
        void operator()(const rules::SampleClause&) {  // RulePart::sample
            self.refuse_of_looks(one.span, "`sample` selects calls, and an interval has none");
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
        .note("while it runs, the kernel runs only the probe in it")
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
    if (auto offset = in_header(*value)) {
        return header_field(record, {value_type(*value), *offset, stored_size(*value), true});
    }
    auto index = static_cast<uint32_t>(record.layout.fields.size());
    record.layout.fields.push_back({.type = value_type(*value), .size = stored_size(*value)});
    record.captures.push_back({value, index});
    return index;
}

uint32_t ProbePlanner::header_field(RecordPlan& record, RecordSlot field) {
    std::vector<RecordSlot>& all = record.layout.fields;
    auto known = std::ranges::find_if(all, [&](const RecordSlot& one) {
        return one.placed && one.offset == field.offset && one.type == field.type;
    });
    if (known == all.end()) known = all.insert(known, std::move(field));
    return static_cast<uint32_t>(known - all.begin());
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

std::vector<ProbePlanner::Named>
ProbePlanner::fields(RuleContext& context, const std::vector<rules::Field>& wanted, bool lists) {
    std::vector<Named> all;
    context.scope.lists = lists;
    for (const rules::Field& field : wanted) {
        if (field.is_args()) {
            for (Named& one : all_args(context)) all.push_back(std::move(one));
        } else if (rules::TypedPtr value = checked(context, *field.value)) {
            all.push_back({field.name, std::move(value)});
        }
    }
    context.scope.lists = false;
    return all;
}

NamedField ProbePlanner::named_field(RecordPlan& record, const Named& named,
                                     const RuleContext& context) {
    if (!in_record(*named.value) || is_left_to_tracer(*named.value)) {
        return {named.name, 0, context.bit, late(record, named.value)};
    }
    return {named.name, capture(record, named.value), context.bit, nullptr};
}

// Fields of the same name: the rule planned later is the more exact one, and wins where it applies.
// They stand together, and of those that apply the last is shown.
void ProbePlanner::add_field(std::vector<NamedField>& list, NamedField field,
                             const RuleContext& context) {
    auto alike = [&](const NamedField& known) { return known.name == field.name; };
    auto first = std::ranges::find_if(list, alike);
    auto end = std::find_if_not(first, list.end(), alike);
    if (first != end && !field.late && !std::prev(end)->late &&
        std::prev(end)->field == field.field) {
        std::prev(end)->mask |= field.mask;
        return;
    }
    bool always = !context.part.conditional() && context.part.return_where.empty() &&
                  !context.part.late_where;
    if (always) end = list.erase(first, end);
    list.insert(end, std::move(field));
}

void ProbePlanner::add_emit(RecordPlan& record, const RuleContext& context,
                            decltype(Emit::what) what) {
    record.spans.push_back(context.span);
    record.emits.push_back({context.bit, context.part.rule, {}, std::move(what)});
}

void ProbePlanner::add_stack_emit(RecordPlan& record, const RuleContext& context,
                                  decltype(Emit::what) what) {
    record.spans.push_back(context.span);
    record.emits.push_back({context.bit, context.part.rule, context.stack, std::move(what)});
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
        plan.spans.push_back(context.span);
        known.mask |= context.bit;
        known.rule = context.part.rule;
        known.stack.add(context.stack);
        return known;
    }
    add_stack_emit(plan, context, std::move(wanted));
    return plan.emits.back();
}

void ProbePlanner::span(RuleContext& context, const rules::SpanClause& clause, const Span& where) {
    if (context.at_entry()) {
        Diagnostics found;
        std::string what = context.rule.entry
                               ? "needs both ends of a call, and `on entry` acts at the first"
                           : probe_.kind == ProbeKind::interval
                               ? "needs a call; a look at a process has no duration"
                               : "needs a call; a tracepoint has no duration";
        Diagnostic& error = found.error(where, "a `span` " + what);
        error.help(context.rule.entry ? "remove `entry`, or use `event`" : "use `event`");
        builder_.report(found);
        return;
    }
    // What overlaps with others in its thread, and ends in any, is told as a whole.
    if (probe_.moves()) return event(context, clause.type, "", clause.fields);
    context.part.at_entry = context.part.at_return = true;
    RecordPlan& begin = record(rules::Stage::entry);
    RecordPlan& end = record(rules::Stage::ret);
    std::vector<Named> named = fields(context, clause.fields, true);
    auto add = [&](RecordPlan& plan, rules::Stage stage) {
        bool begins = stage == rules::Stage::entry;  // where stacks are taken
        RuleContext here{context.rule, context.scope,
                         context.bit,  begins ? context.stack : rules::StackKinds(),
                         {},           context.span};
        here.part.rule = context.part.rule;
        size_t at =
            static_cast<size_t>(&joined(plan, here, SpanEmit{clause.type, {}}) - plan.emits.data());
        for (const Named& one : named) {
            if (one.value->stage != stage) continue;
            NamedField field = named_field(plan, one, context);
            add_field(std::get<SpanEmit>(plan.emits[at].what).fields, std::move(field), context);
        }
    };
    add(begin, rules::Stage::entry);
    add(end, rules::Stage::ret);
}

void ProbePlanner::event(RuleContext& context, const std::string& type, const std::string& name,
                         const std::vector<rules::Field>& asked) {
    RecordPlan& plan = work_record(context);
    std::vector<Named> named = fields(context, asked, true);
    Emit& emit = joined(plan, context, EventEmit{type, name, {}});
    for (const Named& one : named) {
        NamedField field = named_field(plan, one, context);
        add_field(std::get<EventEmit>(emit.what).fields, std::move(field), context);
    }
}

// The tracer needs both as they are, before any other record's turn.
void ProbePlanner::trace(RuleContext& context, const rules::TraceClause& clause,
                         const Span& where) {
    Diagnostics found;
    if (probe_.kind != ProbeKind::function) {
        found.error(where, "`trace` is for functions of a library, which give addresses of others");
        return builder_.report(found);
    }
    rules::TypedPtr address = number(context, *clause.address, "the address of a function");
    rules::TypedPtr name = checked(context, *clause.name);
    if (!address || !name) return;
    if (!name->is_text()) {
        found.error(name->span, "the name of a function is text").labelled("this is a number");
    }
    for (const rules::TypedPtr& one : {address, name}) {
        if (in_record(*one) && !is_left_to_tracer(*one)) continue;
        found.error(one->span, "`trace` needs what the call itself has")
            .labelled("this is known to the tracer only");
    }
    builder_.report(found);
    if (found.has_errors()) return;
    RecordPlan& plan = work_record(context);
    const uint32_t at = capture(plan, address);
    add_emit(plan, context, TraceEmit{at, capture(plan, name)});
}

}  // namespace mlbcc::plan
