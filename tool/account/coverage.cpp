#include "account/coverage.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>

namespace mlbcc::account {
namespace {

// What is known of a function without a trace: nothing; that no call of it has ended; that it was
// not called.
enum class Known { nothing, not_ended, not_called };

struct Function {
    Known known = Known::nothing;
    bool called = false;
};

bool is_function_name(const plan::RecordSlot& field) {
    using Kind = plan::ValueType::Kind;
    return field.type.kind == Kind::function || field.type.kind == Kind::symbol;
}

// Whether the parts in `mask` leave a trace of every call, unless it was lost.
class Parts {
public:
    Parts(const plan::ProbePlan& probe, const std::vector<sink::RuleLoss>& losses)
        : probe_(probe), losses_(losses) {}

    bool tell(uint32_t mask, bool at_return) const {
        for (size_t i = 0; i < probe_.parts.size(); ++i) {
            if ((mask >> i & 1) != 0 && tells(probe_.parts[i], at_return)) return true;
        }
        return false;
    }
    bool tell(const std::optional<plan::RecordPlan>& record, bool at_return) const {
        if (!record) return false;
        return std::ranges::any_of(record->emits, [&](const plan::Emit& emit) {
            bool is_event = std::holds_alternative<plan::SpanEmit>(emit.what) ||
                            std::holds_alternative<plan::EventEmit>(emit.what);
            return is_event && tell(emit.mask, at_return);
        });
    }

private:
    bool tells(const plan::RulePart& part, bool at_return) const {
        bool always = !part.conditional() && !part.late_where;
        if (at_return) always = always && part.return_where.empty();
        auto rule = static_cast<size_t>(part.rule);
        return always && rule < losses_.size() && losses_[rule].lost == 0;
    }

    const plan::ProbePlan& probe_;
    const std::vector<sink::RuleLoss>& losses_;
};

bool counts_by_function(const plan::Plan& plan, const plan::AggregateUse& use) {
    const plan::Aggregate& aggregate = plan.aggregates[static_cast<uint32_t>(use.aggregate)];
    return std::ranges::any_of(
        aggregate.by, [](const plan::Aggregate::Key& key) { return is_function_name(key.field); });
}

Known known_of(const plan::Plan& plan, const plan::ProbePlan& probe,
               const std::vector<sink::RuleLoss>& losses) {
    Parts parts(probe, losses);
    bool at_entry = parts.tell(probe.entry, false), at_return = parts.tell(probe.ret, true);
    for (const plan::AggregateUse& use : probe.aggregates) {
        if (!counts_by_function(plan, use) || !parts.tell(use.hit, !use.at_entry)) continue;
        (use.at_entry ? at_entry : at_return) = true;
    }
    return at_entry ? Known::not_called : at_return ? Known::not_ended : Known::nothing;
}

// It is there for what it tells of others.
bool is_only_learnt_from(const plan::ProbePlan& probe) {
    const auto only_learns = [](const std::optional<plan::RecordPlan>& record) {
        return !record || std::ranges::all_of(record->emits, [](const plan::Emit& emit) {
            return std::holds_alternative<plan::LearnEmit>(emit.what) ||
                   std::holds_alternative<plan::TraceEmit>(emit.what) ||
                   std::holds_alternative<plan::ConditionEmit>(emit.what);
        });
    };
    return probe.aggregates.empty() && only_learns(probe.entry) && only_learns(probe.ret);
}

using Library = std::map<std::string, Function>;  // by symbol

// Nullopt where some function may have been called without a trace.
std::optional<sink::LibraryCoverage> covered(const std::string& name, const Library& library) {
    sink::LibraryCoverage made;
    made.library = name;
    made.functions = library.size();
    for (const auto& [symbol, function] : library) {
        if (function.called) {
            made.called.push_back(symbol);
        } else if (function.known == Known::nothing) {
            return std::nullopt;
        } else if (function.known == Known::not_ended) {
            made.ended = true;
        }
    }
    return made;
}

}  // namespace

void Coverage::called(plan::ProbeId probe) {
    auto index = static_cast<size_t>(probe);
    if (index >= called_.size()) called_.resize(plan_.probes.size());
    if (index < called_.size()) called_[index] = true;
}

void Coverage::called(const plan::Aggregate& aggregate, std::span<const std::byte> key) {
    for (const plan::Aggregate::Key& part : aggregate.by) {
        uint64_t probe = 0;
        if (!is_function_name(part.field) || part.field.offset + sizeof probe > key.size())
            continue;
        std::memcpy(&probe, key.data() + part.field.offset, sizeof probe);
        called(static_cast<plan::ProbeId>(probe));
    }
}

bool Coverage::is_called(plan::ProbeId probe) const {
    auto index = static_cast<size_t>(probe);
    return index < called_.size() && called_[index];
}

std::vector<sink::LibraryCoverage>
Coverage::libraries(const std::vector<plan::ProbeId>& refused,
                    const std::vector<sink::RuleLoss>& losses) const {
    std::map<std::string, Library> libraries;
    for (const plan::ProbePlan& probe : plan_.probes) {
        if (probe.kind != plan::ProbeKind::function) continue;
        const auto& function = std::get<target::UserFunction>(probe.probe->at);
        if (function.path.empty() || std::ranges::find(refused, probe.id) != refused.end())
            continue;
        if (is_only_learnt_from(probe)) continue;
        Library& library = libraries[function.soname];
        auto [found, is_new] = library.try_emplace(probe.symbol);
        Known known = known_of(plan_, probe, losses);
        found->second.known = is_new ? known : std::min(known, found->second.known);
        found->second.called |= is_called(probe.id);
    }
    std::vector<sink::LibraryCoverage> made;
    for (const auto& [name, library] : libraries) {
        if (auto one = covered(name, library)) made.push_back(std::move(*one));
    }
    return made;
}

}  // namespace mlbcc::account
