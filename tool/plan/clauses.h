// What a rule's conditions and clauses add to a probe: record fields, what they mean, aggregates.
#pragma once

#include <string>
#include <vector>

#include "plan/rule_on_probe.h"

namespace mlbcc::plan {

class ClausePlanner {
public:
    explicit ClausePlanner(RuleOnProbe& rule)
        : rule_(rule), builder_(rule.builder), probe_(rule.probe), records_(rule.records) {}

    void plan_where();
    void plan(const rules::Clause& clause);

private:
    void late_where(const rules::TypedPtr& part);
    void refuse_of_looks(const Span& where, const char* why);
    void stack(const rules::StackClause& clause, const Span& where);
    void span(const rules::SpanClause& clause, const Span& where);
    void event(const std::string& type, const std::string& name,
               const std::vector<rules::Field>& asked);
    void gauge(const rules::GaugeClause& clause);
    void learn(const rules::LearnClause& clause);
    bool is_stack(const rules::LearnClause& clause) const;
    bool can_take_stack(const rules::LearnClause& clause);
    void largest(const rules::Clause& clause);
    ListId list_id(const rules::Clause& clause, const ValueType& by);
    void trace(const rules::TraceClause& clause, const Span& where);
    template <class Emit_>
    Emit& joined(RecordPlan& record, Emit_ wanted, const rules::StackKinds& stack);
    void add_field(std::vector<NamedField>& fields, NamedField field);

    RuleOnProbe& rule_;
    PlanBuilder& builder_;
    ProbePlan& probe_;
    ProbeRecords& records_;
};

}  // namespace mlbcc::plan
