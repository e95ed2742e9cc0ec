// One rule while it is planned on one probe: its expressions, checked there, and what it has asked
// for so far.
#pragma once

#include <string>
#include <vector>

#include "plan/plan_builder.h"
#include "plan/probe_records.h"

namespace mlbcc::plan {

// How names of `probe` are checked; `entry`: at its beginning.
rules::Scope scope_of(const PlanBuilder& builder, const ProbePlan& probe, bool entry);

class RuleOnProbe {
public:
    RuleOnProbe(PlanBuilder& builder, ProbePlan& probe, ProbeRecords& records,
                const rules::Rule& rule, bool entry);

    bool at_entry() const { return part.entry; }  // the rule acts on the way in
    // Null where it is wrong, which has been told.
    rules::TypedPtr checked(const rules::Expr& expr);
    // As a number; null where it is none, with `what` it should be.
    rules::TypedPtr number(const rules::Expr& expr, const char* what);
    bool is_integer(const rules::Typed& value, const std::string& what);
    // `lists`: arrays are lists of their elements.
    std::vector<AskedValue> fields(const std::vector<rules::Field>& wanted, bool lists);

    RecordPlan& work_record();  // entry or return, by the rule's kind
    LatePtr late_number(const rules::ExprPtr& expr, const char* what);
    // `with`: of the stacks that the rule takes.
    void add_emit(RecordPlan& record, decltype(Emit::what) what,
                  const rules::StackKinds& with = {});

    PlanBuilder& builder;
    ProbePlan& probe;
    ProbeRecords& records;
    const rules::Rule& rule;
    rules::Scope scope;
    uint32_t bit = 0;
    rules::StackKinds stack;
    RulePart part;
    Span span;  // of the clause that is being planned

private:
    std::vector<AskedValue> all_args() const;
};

}  // namespace mlbcc::plan
