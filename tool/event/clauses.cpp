#include "event/event.h"

namespace mlbcc::event {
namespace {

void add_clauses(const plan::ProbePlan& probe, const std::optional<plan::RecordPlan>& record,
                 Phase span_phase, Phase event_phase, std::vector<EmitClause>& out) {
    if (!record) return;
    for (const plan::Emit& emit : record->emits) {
        if (std::holds_alternative<plan::SpanEmit>(emit.what)) {
            out.push_back({&probe, &emit, span_phase});
        } else if (std::holds_alternative<plan::EventEmit>(emit.what)) {
            out.push_back({&probe, &emit, event_phase});
        }
    }
}

}  // namespace

const std::vector<plan::NamedField>& EmitClause::fields() const {
    if (const auto* span = std::get_if<plan::SpanEmit>(&emit->what)) return span->fields;
    return std::get<plan::EventEmit>(emit->what).fields;
}

std::vector<EmitClause> clauses(const plan::Plan& plan) {
    std::vector<EmitClause> out;
    for (const plan::ProbePlan& probe : plan.probes) {
        add_clauses(probe, probe.entry, Phase::begin, Phase::instant, out);
        add_clauses(probe, probe.ret, Phase::end, Phase::complete, out);
    }
    return out;
}

}  // namespace mlbcc::event
