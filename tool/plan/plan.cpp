#include <algorithm>

#include "plan/planner.h"

namespace mlbcc::plan {
namespace {

// What rules name by clauses of a kind.
template <class Clause>
std::vector<std::string> names_of(const rules::RuleSet& rules, std::string Clause::*name) {
    std::set<std::string> names;
    for (const rules::Rule& rule : rules.rules) {
        for (const rules::Clause& clause : rule.clauses) {
            if (const auto* one = std::get_if<Clause>(&clause.node)) names.insert(one->*name);
        }
    }
    return {names.begin(), names.end()};
}

std::vector<std::string> tables_of(const rules::RuleSet& rules) {
    std::vector<std::string> tables = names_of(rules, &rules::LearnClause::table);
    tables.emplace_back(rules::kFunctionAt);
    return tables;
}

// "/usr/share/mlbcc/rules/cuda.rules:12" is "cuda.rules:12" in every record of a trace.
std::string short_place(const std::string& place) {
    return place.substr(place.rfind('/') + 1);
}

void add_parameters(const rules::Typed& value, uint64_t& bits) {
    const auto* leaf = std::get_if<rules::ParamLeaf>(&value.node);
    if (leaf != nullptr && leaf->index < 64) bits |= uint64_t{1} << leaf->index;
    rules::for_each_operand(value,
                            [&](const rules::TypedPtr& part) { add_parameters(*part, bits); });
}

uint32_t record_size(const std::optional<RecordPlan>& record) {
    if (!record) return 0;
    return record->layout.size +
           (record->layout.has(rules::StackKind::user)
                ? static_cast<uint32_t>(sizeof(UserStack) + kMaxStackBytes +
                                        kMaxAwaitedReturns * sizeof(AwaitedReturn))
                : 0);
}

template <class Test> bool any_record(const Plan& plan, Test test) {
    auto fits = [&](const std::optional<RecordPlan>& record) { return record && test(*record); };
    return std::ranges::any_of(
        plan.probes, [&](const ProbePlan& probe) { return fits(probe.entry) || fits(probe.ret); });
}

// What programs and maps were made for.
struct Room {
    explicit Room(const Plan& plan)
        : shapes(plan.shapes.size()), aggregates(plan.aggregates.size()), lists(plan.lists.size()),
          frame_bytes(plan.frame_save_bytes), record_bytes(plan.record_bytes) {}
    bool has(const Plan& plan, const ProbePlan& probe) const {
        return plan.shapes.size() == shapes && plan.aggregates.size() == aggregates &&
               probe.saved_bytes() <= frame_bytes &&
               std::max(record_size(probe.entry), record_size(probe.ret)) <= record_bytes;
    }
    // Forgets what a probe that finds no room has added.
    void restore(Plan& plan) const {
        plan.shapes.resize(shapes);
        plan.aggregates.resize(aggregates);
        plan.lists.resize(lists);
        std::erase_if(plan.shape_ids,
                      [&](const auto& one) { return static_cast<size_t>(one.second) >= shapes; });
        std::erase_if(plan.aggregate_ids, [&](const auto& one) {
            return static_cast<size_t>(one.second) >= aggregates;
        });
        std::erase_if(plan.list_ids,
                      [&](const auto& one) { return static_cast<size_t>(one.second) >= lists; });
    }
    size_t shapes, aggregates, lists;
    uint32_t frame_bytes, record_bytes;
};

// Adds the probe of the last of plan.targets, if there is room for it; nullopt: none is needed.
std::optional<bool> add_last(PlanBuilder& builder, const Room* room) {
    Plan& plan = builder.plan;
    auto id = static_cast<ProbeId>(plan.probes.size());
    std::optional<ProbePlan> made = plan_probe(builder, plan.targets.back());
    if (!made) return std::nullopt;
    ProbePlan& planned = *made;
    planned.id = id;
    if (room != nullptr && !room->has(plan, planned)) {
        room->restore(plan);
        return false;
    }
    plan.frame_save_bytes = std::max(plan.frame_save_bytes, planned.saved_bytes());
    plan.record_bytes =
        std::max({plan.record_bytes, record_size(planned.entry), record_size(planned.ret)});
    for (const RulePart& part : planned.parts) {
        const bool is_alone = planned.until_known && planned.parts.size() == 1;
        plan.rules[static_cast<uint32_t>(part.rule)].until_known &= is_alone;
    }
    plan.probes.push_back(std::move(planned));
    return true;
}

bool probes_functions(const rules::RuleSet& rules) {
    return std::ranges::any_of(rules.rules, [](const rules::Rule& rule) {
        return std::ranges::any_of(rule.targets, [](const rules::Target& target) {
            return std::holds_alternative<rules::FunctionTarget>(target.node);
        });
    });
}

}  // namespace

uint32_t sample_of(const rules::Rule& rule) {
    uint32_t one_in = 1;
    for (const rules::Clause& clause : rule.clauses) {
        if (const auto* sample = std::get_if<rules::SampleClause>(&clause.node)) {
            one_in = sample->one_in;
        }
    }
    return one_in;
}

uint32_t ProbePlan::saved_bytes() const {
    uint32_t bytes = saved_words * 8;
    for (const Saved& one : saved) bytes = std::max(bytes, one.offset + one.size);
    return bytes;
}

bool ProbePlan::is_for_all() const {
    return std::ranges::any_of(parts, [](const RulePart& part) { return part.all; });
}

bool ProbePlan::knows_own() const {
    return std::ranges::any_of(aggregates, &AggregateUse::is_own_known);
}

uint32_t ProbePlan::return_parts() const {
    uint32_t bits = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].at_return) bits |= 1u << i;
    }
    return bits;
}

uint64_t ProbePlan::asked_parameters() const {
    uint64_t bits = 0;
    for (const std::optional<RecordPlan>* record : {&entry, &ret}) {
        if (!*record) continue;
        for (const Capture& one : (*record)->captures) add_parameters(*one.value, bits);
    }
    return bits;
}

bool ProbePlan::hits_vary() const {
    size_t active = 0, conditional = 0;
    for (const RulePart& part : parts) {
        if (!part.at_return) continue;
        ++active;
        if (part.conditional()) ++conditional;
    }
    return active > 1 && conditional > 0;
}

uint32_t Plan::owns() const {
    return static_cast<uint32_t>(std::ranges::count_if(
        aggregates, [](const Aggregate& one) { return one.own.has_value(); }));
}

bool RecordLayout::has_stack() const {
    return std::ranges::any_of(stack, &std::optional<uint32_t>::has_value);
}

uint32_t RecordPlan::emitting() const {
    uint32_t mask = 0;
    for (const Emit& emit : emits) mask |= emit.mask;
    return mask;
}

uint32_t RecordPlan::taking(rules::StackKind kind) const {
    uint32_t mask = 0;
    for (const Emit& emit : emits) mask |= emit.stack.has(kind) ? emit.mask : 0;
    return mask;
}

bool Plan::takes(rules::StackKind kind) const {
    return any_record(*this, [&](const RecordPlan& one) { return one.layout.has(kind); });
}

bool Plan::traces_addresses() const {
    return any_record(*this, [](const RecordPlan& record) {
        return std::ranges::any_of(record.emits, [](const Emit& emit) {
            return std::holds_alternative<TraceEmit>(emit.what);
        });
    });
}

Plan make_plan(std::vector<target::Probe> targets, const rules::RuleSet& rules,
               const rules::TypeTable& types, Arch arch, Diagnostics& diagnostics) {
    Plan plan;
    plan.types = &types;
    plan.arch = arch;
    for (const rules::Rule& rule : rules.rules) {
        plan.rules.push_back(
            {short_place(rule.place()), sample_of(rule), rule.head_span, rule.until_known});
    }
    const std::vector<std::string> tables = tables_of(rules);
    const std::vector<std::string> gauges = names_of(rules, &rules::GaugeClause::name);
    PlanBuilder builder{
        plan, tables, gauges, diagnostics, rules.keep_mangled, {}, probes_functions(rules)};
    for (target::Probe& probe : targets) {
        plan.targets.push_back(std::move(probe));
        (void)add_last(builder, nullptr);
    }
    return plan;
}

Growth grow(Plan& plan, std::vector<target::Probe> targets, const rules::RuleSet& rules,
            Diagnostics& diagnostics) {
    Growth growth{plan.probes.size(), {}};
    const std::vector<std::string> tables = tables_of(rules);
    const std::vector<std::string> gauges = names_of(rules, &rules::GaugeClause::name);
    PlanBuilder builder{
        plan, tables, gauges, diagnostics, rules.keep_mangled, {}, probes_functions(rules), true};
    const Room room(plan);
    for (target::Probe& probe : targets) {
        plan.targets.push_back(std::move(probe));
        bool has_room = add_last(builder, &room).value_or(true);
        auto* function = std::get_if<target::UserFunction>(&plan.targets.back().at);
        if (!has_room && function != nullptr &&
            function->stacks.stacks() == target::Stacks::steady) {
            function->stacks = target::StackSigns::not_known();
            has_room = add_last(builder, &room).value_or(true);
        }
        if (!has_room && function != nullptr) growth.left_out.push_back(function->symbol);
    }
    return growth;
}

}  // namespace mlbcc::plan
