#include <algorithm>

#include "plan/planner.h"

namespace mlbcc::plan {
namespace {

std::vector<std::string> learnt_tables(const rules::RuleSet& rules) {
    std::set<std::string> names;
    for (const rules::Rule& rule : rules.rules) {
        for (const rules::Clause& clause : rule.clauses) {
            if (const auto* learn = std::get_if<rules::LearnClause>(&clause.node)) {
                names.insert(learn->table);
            }
        }
    }
    return {names.begin(), names.end()};
}

// "/usr/share/mlbcc/rules/cuda.rules:12" is "cuda.rules:12" in every record of a trace.
std::string short_place(const std::string& place) {
    return place.substr(place.rfind('/') + 1);
}

uint32_t record_size(const std::optional<RecordPlan>& record) {
    if (!record) return 0;
    return record->layout.size +
           (record->layout.stack ? static_cast<uint32_t>(sizeof(UserStack)) + kMaxStackBytes : 0);
}

// What programs and maps were made for.
struct Room {
    explicit Room(const Plan& plan)
        : shapes(plan.shapes.size()), aggregates(plan.aggregates.size()),
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
        std::erase_if(plan.shape_ids,
                      [&](const auto& one) { return static_cast<size_t>(one.second) >= shapes; });
        std::erase_if(plan.aggregate_ids, [&](const auto& one) {
            return static_cast<size_t>(one.second) >= aggregates;
        });
    }
    size_t shapes, aggregates;
    uint32_t frame_bytes, record_bytes;
};

// Adds the probe of the last of plan.targets, if there is room for it; nullopt: none is needed.
std::optional<bool> add_last(PlanBuilder& builder, const Room* room) {
    Plan& plan = builder.plan;
    ProbePlanner planner(builder, plan.targets.back());
    auto id = static_cast<ProbeId>(plan.probes.size());
    if (!planner.plan()) return std::nullopt;
    ProbePlan planned = planner.take();
    planned.id = id;
    if (room != nullptr && !room->has(plan, planned)) {
        room->restore(plan);
        return false;
    }
    plan.frame_save_bytes = std::max(plan.frame_save_bytes, planned.saved_bytes());
    plan.record_bytes =
        std::max({plan.record_bytes, record_size(planned.entry), record_size(planned.ret)});
    plan.probes.push_back(std::move(planned));
    return true;
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

uint32_t ProbePlan::return_parts() const {
    uint32_t bits = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].at_return) bits |= 1u << i;
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

bool Plan::takes_stacks() const {
    auto with_stack = [](const std::optional<RecordPlan>& record) {
        return record && record->layout.stack;
    };
    return std::any_of(probes.begin(), probes.end(), [&](const ProbePlan& probe) {
        return with_stack(probe.entry) || with_stack(probe.ret);
    });
}

bool Plan::takes_python() const {
    auto with_python = [](const std::optional<RecordPlan>& record) {
        return record && record->layout.python;
    };
    return std::any_of(probes.begin(), probes.end(), [&](const ProbePlan& probe) {
        return with_python(probe.entry) || with_python(probe.ret);
    });
}

Plan make_plan(std::vector<target::Probe> targets, const rules::RuleSet& rules,
               const rules::TypeTable& types, Arch arch, Diagnostics& diagnostics) {
    Plan plan;
    plan.types = &types;
    plan.arch = arch;
    for (const rules::Rule& rule : rules.rules) {
        plan.rules.push_back({short_place(rule.place()), sample_of(rule)});
    }
    std::vector<std::string> tables = learnt_tables(rules);
    PlanBuilder builder{plan, tables, diagnostics, {}};
    for (target::Probe& probe : targets) {
        plan.targets.push_back(std::move(probe));
        (void)add_last(builder, nullptr);
    }
    return plan;
}

Growth grow(Plan& plan, std::vector<target::Probe> targets, const rules::RuleSet& rules,
            Diagnostics& diagnostics) {
    Growth growth{plan.probes.size(), {}};
    std::vector<std::string> tables = learnt_tables(rules);
    PlanBuilder builder{plan, tables, diagnostics, {}};
    const Room room(plan);
    for (target::Probe& probe : targets) {
        plan.targets.push_back(std::move(probe));
        const bool has_room = add_last(builder, &room).value_or(true);
        const auto* function = std::get_if<target::UserFunction>(&plan.targets.back().at);
        if (!has_room && function != nullptr) growth.left_out.push_back(function->symbol);
    }
    return growth;
}

}  // namespace mlbcc::plan
