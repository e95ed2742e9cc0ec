#include "sink/clause_text.h"

#include <fmt/format.h>

#include "sink/json.h"

namespace mlbcc::sink {
namespace {

const char* letter(event::Phase phase) {
    switch (phase) {
    case event::Phase::begin: return "B";
    case event::Phase::end: return "E";
    case event::Phase::complete: return "X";
    case event::Phase::instant: return "i";
    }
    return "";
}

// A span is named after its function; an event has a name of its own and says whose it is.
// `sample`: one call in so many is told.
std::string head_of(const event::EmitClause& clause, uint32_t sample) {
    const plan::ProbePlan& probe = *clause.probe;
    std::string head;
    if (const auto* span = std::get_if<plan::SpanEmit>(&clause.emit->what)) {
        head = fmt::format(R"(,"type":{},"name":{})", quoted(span->type), quoted(probe.function));
    } else {
        const auto& event = std::get<plan::EventEmit>(clause.emit->what);
        head = fmt::format(R"(,"type":{},"name":{},"function":{})", quoted(event.type),
                           quoted(event.name.empty() ? probe.function : event.name),
                           quoted(probe.function));
    }
    if (probe.symbol != probe.function)
        head += fmt::format(R"(,"symbol":{})", quoted(probe.symbol));
    if (sample > 1) head += fmt::format(R"(,"sample":{})", sample);
    return head + fmt::format(R"(,"phase":"{}",)", letter(clause.phase));
}

}  // namespace

std::vector<ClauseText> clause_texts(const plan::Plan& plan) {
    std::vector<ClauseText> texts;
    for (const event::EmitClause& clause : event::clauses(plan)) {
        ClauseText& text = texts.emplace_back();
        text.head = head_of(clause, plan.rules[static_cast<size_t>(clause.emit->rule)].sample);
        for (const plan::NamedField& field : clause.fields()) {
            text.names.push_back(quoted(field.name) + ":");
        }
    }
    return texts;
}

}  // namespace mlbcc::sink
