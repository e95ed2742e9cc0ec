// The planner's inside: ProbePlanner turns what all rules want of one function into its ProbePlan.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace mlbcc::plan {

// What all probes share while a plan is made.
struct PlanBuilder {
    Plan& plan;
    const std::vector<std::string>& tables;  // names that some rule learns
    const std::vector<std::string>& gauges;  // of all rules
    Diagnostics& diagnostics;
    bool keep_mangled = false;                                  // RuleSet::keep_mangled
    std::set<std::pair<const SourceFile*, uint32_t>> reported;  // places of mistakes
    bool probes_functions = false;  // of programs: their ends may be system calls, too
    bool grows = false;             // the plan is carried out already

    // Over hundreds of functions a mistake is told once, for the first.
    void report(const Diagnostics& found);
    ShapeId shape(rules::Stage end, std::string key);
};

// Where a probe's parameters are, for the text by which shapes are told apart.
struct Places {
    const ArgSlots& slots;
    const std::vector<target::TraceField>* fields = nullptr;       // of a tracepoint
    const std::vector<target::UsdtArgument>* arguments = nullptr;  // of a probe of a program
    std::string of(uint32_t param) const;
};

class ProbePlanner {
public:
    ProbePlanner(PlanBuilder& builder, const target::Probe& probe);
    // False if there is nothing to do on this function.
    bool plan();
    ProbePlan take() { return std::move(probe_); }

private:
    struct RuleContext {
        const rules::Rule& rule;
        rules::Scope scope;
        uint32_t bit = 0;
        rules::StackKinds stack;
        RulePart part;
        Span span;                                    // of the clause that is being planned
        bool at_entry() const { return part.entry; }  // the rule acts on the way in
    };

    void name(const target::AttachPoint& at);
    void plan_rule(const target::RuleUse& use);
    rules::Scope scope(bool entry) const;
    // Of a system call, what rules need to know of its beginning: each is more than the one before.
    enum class Beginning { nothing, time, values };
    void locate_go_arguments();
    bool is_known(const rules::Typed& value) const;
    std::string how_it_ends() const;
    target::Ends ends_of_syscall() const;
    Beginning beginning() const;
    Beginning beginning(const rules::Typed& value) const;
    Beginning beginning(const std::vector<rules::TypedPtr>& values) const;
    Places places() const;
    void plan_where(RuleContext& context);
    void late_where(RuleContext& context, const rules::TypedPtr& part);
    rules::TypedPtr checked(const RuleContext& context, const rules::Expr& expr);
    bool is_integer(const rules::Typed& value, const std::string& what);
    // As a number; null where it is none, with `what` it should be.
    rules::TypedPtr number(const RuleContext& context, const rules::Expr& expr, const char* what);

    // Clauses (clauses.cpp)
    void clause(RuleContext& context, const rules::Clause& clause);
    void refuse_of_looks(const Span& where, const char* why);
    void stack(const rules::StackClause& clause, const Span& where);
    void span(RuleContext& context, const rules::SpanClause& clause, const Span& where);
    void event(RuleContext& context, const std::string& type, const std::string& name,
               const std::vector<rules::Field>& asked);
    void gauge(RuleContext& context, const rules::GaugeClause& clause);
    void learn(RuleContext& context, const rules::LearnClause& clause);
    bool is_stack(const rules::LearnClause& clause) const;
    bool can_take_stack(const RuleContext& context, const rules::LearnClause& clause);
    void largest(RuleContext& context, const rules::Clause& clause);
    void trace(RuleContext& context, const rules::TraceClause& clause, const Span& where);
    ListId list_id(const RuleContext& context, const rules::Clause& clause, const ValueType& by);
    struct Aggregation {  // a count, a sum or a hist
        const rules::Clause& clause;
        AggregateKind kind{};
        const rules::Kept& kept;
        const rules::Expr* value = nullptr;
        const rules::Expr* over = nullptr;
    };
    bool counts_beginnings(const rules::Rule& rule) const;
    void aggregate(RuleContext& context, const Aggregation& wanted);
    AggregateId aggregate_id(RuleContext& context, const Aggregation& wanted,
                             const AggregateUse& use);
    bool fits(const Aggregation& wanted, const AggregateUse& use);
    bool calls_nest() const;
    void tally(RuleContext& context, const AggregateUse& use, const rules::TypedPtr& over);
    struct Named {
        std::string name;
        rules::TypedPtr value;
    };
    // `lists`: arrays are lists of their elements.
    std::vector<Named> fields(RuleContext& context, const std::vector<rules::Field>& wanted,
                              bool lists);
    std::vector<Named> all_args(const RuleContext& context);

    // Records
    RecordPlan& record(rules::Stage stage);
    RecordPlan& work_record(RuleContext& context);  // entry or return, by the rule's kind
    uint32_t capture(RecordPlan& record, const rules::TypedPtr& value);
    uint32_t header_field(RecordPlan& record, RecordSlot field);
    std::optional<uint32_t> in_header(const rules::Typed& value) const;
    LatePtr late_duration(RecordPlan& record, const rules::Typed& value);
    bool is_left_to_tracer(const rules::Typed& value) const;
    void place_words(RecordPlan& record, uint32_t offset);
    // Whether a record can have it as it is; else the tracer computes it, of parts that are.
    bool in_record(const rules::Typed& value) const;
    // Captures what of a value the kernel can compute; the rest is the tracer's.
    LatePtr late(RecordPlan& record, const rules::TypedPtr& value);
    LatePtr late_number(RuleContext& context, const rules::ExprPtr& expr, const char* what);
    LatePtr late_look_up(RecordPlan& record, const rules::Typed& value);
    NamedField named_field(RecordPlan& record, const Named& named, const RuleContext& context);
    template <class Emit_> Emit& joined(RecordPlan& record, RuleContext& context, Emit_ wanted);
    static void add_field(std::vector<NamedField>& fields, NamedField field,
                          const RuleContext& context);
    void add_emit(RecordPlan& record, const RuleContext& context, decltype(Emit::what) what);
    // Likewise, with the stacks that the rule takes.
    void add_stack_emit(RecordPlan& record, const RuleContext& context, decltype(Emit::what) what);

    // Values kept from entry to return (layout.cpp)
    void save_for_return();
    void save(const rules::TypedPtr& value);
    void save_argument(uint32_t param);

    void check_values(size_t count, const std::vector<Span>& spans);
    void lay_out(RecordPlan& record, bool is_return);
    std::optional<uint32_t> argument_word(const rules::Typed& value) const;
    void find_text_words();
    void add_text_words(const rules::Typed& value);
    void take_as_words(RecordPlan& record) const;

    // Probes with equal keys are of one shape.
    std::string frame_key() const;
    std::string aggregates_key(bool at_entry) const;
    std::string entry_key() const;
    std::string return_key() const;

    PlanBuilder& builder_;
    const target::Probe& target_;
    ProbePlan probe_;
    rules::TypedPtr ret_;  // what the function returns; null: nothing
};

uint32_t sample_of(const rules::Rule& rule);  // it keeps one call in so many
ValueType value_type(const rules::Typed& value);
uint32_t stored_size(const rules::Typed& value);  // bytes in a record, key or frame

}  // namespace mlbcc::plan
