#include "plan/planner.h"

#include <algorithm>

#include "plan/rule_asks.h"

namespace mlbcc::plan {
namespace {

// Calls behind which a descriptor that they were given is no longer open on the same file.
bool changes_descriptors(const std::string& call) {
    constexpr std::string_view kCalls[] = {"close", "close_range", "dup2",
                                           "dup3",  "execve",      "execveat"};
    return std::ranges::find(kCalls, call) != std::end(kCalls);
}

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

ProbePlanner::ProbePlanner(PlanBuilder& builder, const target::Probe& probe)
    : builder_(builder), target_(probe) {
    probe_.probe = &probe;
    probe_.signature = probe.signature;
    name(probe.at);
    if (probe.signature != nullptr && is_function(probe_.kind)) {
        probe_.slots = locate_arguments(*probe.signature, *builder.plan.types, builder.plan.arch);
    } else if (probe_.is_of_go()) {
        locate_go_arguments();
    } else if (probe.signature != nullptr && probe_.kind == ProbeKind::syscall) {
        for (uint32_t i = 0; i < probe.signature->params.size(); ++i) {
            probe_.slots.push_back({{ArgSlot::Kind::reg, i}});
        }
    }
}

// Of those that Go passes in registers, as many as C does; where the others are depends on their
// types.
void ProbePlanner::locate_go_arguments() {
    const uint32_t registers = argument_registers(builder_.plan.arch);
    for (uint32_t i = 0; i <= rules::kMaxArg; ++i) {
        const auto kind = i < registers ? ArgSlot::Kind::reg : ArgSlot::Kind::none;
        probe_.slots.push_back({{kind, i}});
    }
}

// Whether it can be read at all.
bool ProbePlanner::is_known(const rules::Typed& value) const {
    return !rules::any_part(value, [&](const rules::Typed& part) {
        const auto* leaf = std::get_if<rules::ParamLeaf>(&part.node);
        return leaf != nullptr && probe_.is_of_go() &&
               leaf->index >= argument_registers(builder_.plan.arch);
    });
}

void ProbePlanner::name(const target::AttachPoint& at) {
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
    std::visit(Visitor{probe_}, at);
}

rules::Scope ProbePlanner::scope(bool entry) const {
    return {builder_.plan.types,
            probe_.signature,
            &builder_.tables,
            &builder_.gauges,
            probe_.function,
            probe_.symbol,
            entry,
            probe_.ends == target::Ends::moment,
            builder_.keep_mangled,
            probe_.kind == ProbeKind::interval,
            probe_.kind == ProbeKind::defined};
}

bool ProbePlanner::plan() {
    for (const target::RuleUse& use : target_.uses) plan_rule(use);
    probe_.until_known = std::ranges::all_of(
        target_.uses, [](const target::RuleUse& use) { return use.rule->until_known; });
    if (probe_.parts.empty()) return false;
    ret_ = rules::check_ret(scope(false));
    if (ret_) probe_.ret_type = value_type(*ret_);
    if (probe_.kind == ProbeKind::syscall) probe_.ends = ends_of_syscall();
    save_for_return();
    if (probe_.ret) check_values(probe_.saved.size(), probe_.ret->spans);
    if (probe_.entry) lay_out(*probe_.entry, false);
    if (probe_.ret) lay_out(*probe_.ret, true);
    if (probe_.kind == ProbeKind::interval) return true;
    find_text_words();
    if (const auto* at = std::get_if<target::UserFunction>(&target_.at))
        builder_.plan.asks_for_python |= probe_.ends_at_instructions() && at->stacks.of_python();
    const std::string how = how_it_ends();
    if (probe_.has_entry()) {
        const std::string key = probe_.acts_at_end() ? "time" : entry_key();
        probe_.entry_shape = builder_.shape(rules::Stage::entry, "entry " + how + key);
    }
    if (probe_.has_return()) {
        probe_.return_shape = builder_.shape(rules::Stage::ret, "return " + how + return_key());
    }
    return true;
}

// Probes that tell calls apart by other things have shapes of their own.
std::string ProbePlanner::how_it_ends() const {
    if (probe_.is_of_go()) return "of Go ";
    if (!probe_.ends_at_instructions()) return "";
    return probe_.moves() ? "of coroutines " : "at instructions ";
}

target::Ends ProbePlanner::ends_of_syscall() const {
    switch (beginning()) {
    case Beginning::nothing: return target::Ends::completion;
    case Beginning::time: return target::Ends::timed;
    case Beginning::values: break;
    }
    return target::Ends::call;
}

// A system call's arguments are there at its end, too: what asks for no more than these, the result
// and the time that it took has no need of more than the time of its beginning.
ProbePlanner::Beginning ProbePlanner::beginning() const {
    if (probe_.entry) return Beginning::values;
    // On x86-64 a function's end that is awaited is a system call of the kernel's own making, and
    // comes back as one from a signal's handler does: that one has a beginning.
    const bool may_be_own = builder_.probes_functions && probe_.function == "rt_sigreturn";
    Beginning most = may_be_own ? Beginning::time : Beginning::nothing;
    if (probe_.ret) {
        auto has_time = [](const Emit& emit) {
            return std::holds_alternative<EventEmit>(emit.what) ||
                   std::holds_alternative<LargestEmit>(emit.what);
        };
        if (std::ranges::any_of(probe_.ret->emits, has_time)) most = Beginning::time;
        for (const Capture& capture : probe_.ret->captures)
            most = std::max(most, beginning(*capture.value));
    }
    for (const AggregateUse& use : probe_.aggregates) {
        if (use.at_entry) return Beginning::values;
        if (use.value) most = std::max(most, beginning(*use.value));
        most = std::max(most, beginning(use.by));
    }
    for (const RulePart& part : probe_.parts) {
        if (part.at_entry) return Beginning::values;
        most = std::max({most, beginning(part.entry_where), beginning(part.return_where)});
    }
    return most;
}

ProbePlanner::Beginning ProbePlanner::beginning(const rules::Typed& value) const {
    if (rules::always_known(value)) return Beginning::nothing;
    const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value.node);
    if (leaf != nullptr && leaf->which == rules::Builtin::duration) return Beginning::time;
    const auto* text = std::get_if<rules::TextNode>(&value.node);
    const bool is_of_file = text != nullptr && text->of_file;
    bool may_change = is_of_file
                          ? changes_descriptors(probe_.function)
                          : text != nullptr || std::holds_alternative<rules::LoadNode>(value.node);
    if (may_change && value.stage == rules::Stage::entry) return Beginning::values;
    Beginning most = Beginning::nothing;
    rules::for_each_operand(
        value, [&](const rules::TypedPtr& part) { most = std::max(most, beginning(*part)); });
    return most;
}

ProbePlanner::Beginning ProbePlanner::beginning(const std::vector<rules::TypedPtr>& values) const {
    Beginning most = Beginning::nothing;
    for (const rules::TypedPtr& one : values) most = std::max(most, beginning(*one));
    return most;
}

void ProbePlanner::find_text_words() {
    if (probe_.is_of_go()) return;  // touched by C's registers
    if (probe_.entry) {
        for (const Capture& one : probe_.entry->captures) add_text_words(*one.value);
    }
    for (const Saved& one : probe_.saved) add_text_words(*one.value);
    for (const AggregateUse& use : probe_.aggregates) {
        if (!use.at_entry) continue;
        for (const rules::TypedPtr& value : use.by) add_text_words(*value);
    }
    for (const RulePart& part : probe_.parts) {
        for (const rules::TypedPtr& condition : part.entry_where) add_text_words(*condition);
    }
}

void ProbePlanner::add_text_words(const rules::Typed& value) {
    const auto* text = std::get_if<rules::TextNode>(&value.node);
    if (text != nullptr && !text->of_file) {
        std::optional<uint32_t> word = argument_word(*text->pointer);
        const auto* leaf = std::get_if<rules::ParamLeaf>(&text->pointer->node);
        if (probe_.kind == ProbeKind::usdt && leaf != nullptr) word = leaf->index;
        if (word && *word < 32) {
            probe_.text_words |= 1u << *word;
            probe_.text_bytes = std::max(probe_.text_bytes, text->length);
        }
    }
    rules::for_each_operand(value, [&](const rules::TypedPtr& part) { add_text_words(*part); });
}

void ProbePlanner::plan_rule(const target::RuleUse& use) {
    const rules::Rule& rule = *use.rule;
    if (probe_.parts.size() == kMaxHits) {
        Diagnostics found;
        found
            .error(rule.head_span,
                   "more than " + std::to_string(kMaxHits) + " rules match `" + probe_.symbol + "`")
            .help("join rules, or narrow their targets");
        builder_.report(found);
        return;
    }
    bool entry = rule.entry || probe_.ends == target::Ends::moment || counts_beginnings(rule);
    RuleContext context{.rule = rule,
                        .scope = scope(entry),
                        .bit = 1u << probe_.parts.size(),
                        .stack = wanted_stacks(rule)};
    context.scope.lets = &rule.lets;
    context.part.rule = static_cast<RuleId>(rule.index);
    context.part.entry = entry;
    context.part.sample = sample_of(rule);
    context.part.all = rule.all;
    context.part.traced_only =
        !rule.all && std::ranges::any_of(probe_.probe->uses, [](const target::RuleUse& other) {
            return other.rule->all;
        });
    plan_where(context);
    for (const rules::Clause& one : rule.clauses) clause(context, one);
    if (context.part.at_entry || context.part.at_return) {
        probe_.parts.push_back(std::move(context.part));
    }
}

rules::TypedPtr ProbePlanner::checked(const RuleContext& context, const rules::Expr& expr) {
    Diagnostics found;
    rules::TypedPtr value = rules::check(expr, context.scope, found);
    if (value && !is_known(*value)) {
        found.error(expr.span, "it is not known where this argument of a Go function is")
            .note(std::to_string(argument_registers(builder_.plan.arch)) +
                  " can be read: arg(0), ...");
        value = nullptr;
    }
    builder_.report(found);
    if (!value) return value;
    Plan& plan = builder_.plan;
    plan.asks_for_files |= rules::any_part(*value, names_file);
    plan.asks_for_python |= rules::any_part(*value, asks_for_python);
    plan.asks_for_functions |= rules::any_part(*value, asks_for_function);
    plan.asks_for_task |= rules::any_part(*value, rules::is_of_task);
    return value;
}

void ProbePlanner::plan_where(RuleContext& context) {
    for (const rules::ExprPtr& expr : context.rule.where) {
        rules::TypedPtr condition = checked(context, *expr);
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
            if (!in_record(*part)) {
                late_where(context, part);
                continue;
            }
            auto& list = part->stage == rules::Stage::entry ? context.part.entry_where
                                                            : context.part.return_where;
            if (part->stage == rules::Stage::ret && wants_span(context.rule)) {
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
void ProbePlanner::late_where(RuleContext& context, const rules::TypedPtr& part) {
    if (wants_span(context.rule)) {
        Diagnostics found;
        found.error(part->span, "a `span` begins in the kernel, and this is known to the tracer")
            .help("use `event`, which the tracer may leave out");
        builder_.report(found);
        return;
    }
    RecordPlan& plan = work_record(context);
    context.part.late_where = true;
    context.span = part->span;
    add_emit(plan, context, ConditionEmit{late(plan, part)});
}

rules::TypedPtr ProbePlanner::number(const RuleContext& context, const rules::Expr& expr,
                                     const char* what) {
    rules::TypedPtr value = checked(context, expr);
    if (!value) return nullptr;
    const auto* learnt = std::get_if<rules::LearntNode>(&value->node);
    if (learnt != nullptr && learnt->as == rules::LearntAs::shown && learnt->key->in_tracer) {
        return rules::learnt_as(value, rules::LearntAs::number);
    }
    return is_integer(*value, what) ? value : nullptr;
}

bool ProbePlanner::is_integer(const rules::Typed& value, const std::string& what) {
    const bool is_real = value.show == rules::Show::floating;
    if (!value.is_text() && !is_real) return true;
    Diagnostics found;
    found.error(value.span, what + " is " + (is_real ? "an integer" : "a number"))
        .labelled(is_real ? "this is a floating-point number" : "this is text");
    builder_.report(found);
    return false;
}

}  // namespace mlbcc::plan
