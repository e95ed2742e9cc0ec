#include "trace/metrics.h"

#include <algorithm>
#include <cstring>

namespace mlbcc::trace {
namespace {

// A group's value over all CPUs.
void add_to(codegen::AggregateValue& total, const std::vector<std::byte>& bytes) {
    codegen::AggregateValue one{};
    std::memcpy(&one, bytes.data(), std::min(bytes.size(), sizeof one));
    total.count += one.count;
    total.sum += one.sum;
    total.inverse_min = std::max(total.inverse_min, one.inverse_min);
    total.max = std::max(total.max, one.max);
    for (size_t i = 0; i < 64; ++i) total.buckets[i] += one.buckets[i];
}

void add_to(codegen::AggregateValue& total, const codegen::AggregateValue& other) {
    std::vector<std::byte> bytes(sizeof other);
    std::memcpy(bytes.data(), &other, sizeof other);
    add_to(total, bytes);
}

}  // namespace

struct Metrics::Group {
    sink::Group by;
    codegen::AggregateValue value{};
    uint64_t over_ns = 0;
};

// Different keys may look alike.
void Metrics::merge(Group group, std::vector<Group>& groups) {
    if (group.value.count == 0 && !group.by.empty()) return;
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const Group& known) { return known.by == group.by; });
    if (same == groups.end()) {
        groups.push_back(std::move(group));
    } else {
        add_to(same->value, group.value);
        same->over_ns += group.over_ns;
    }
}

void Metrics::add_kept_by_kernel(const plan::Aggregate& aggregate, const event::Pipeline& pipeline,
                                 Coverage& coverage, std::vector<Group>& groups) {
    bpf::Map* map = loaded_.map(codegen::maps::aggregate(aggregate.id));
    if (map == nullptr) return;
    for (const std::vector<std::byte>& key : map->keys()) {
        Group group;
        uint64_t pid = 0;  // learnt names are a process's own
        if (!aggregate.by.empty() && aggregate.by.back().name.empty()) {
            std::memcpy(&pid, key.data() + aggregate.by.back().field.offset, sizeof pid);
        }
        for (const plan::Aggregate::Key& part : aggregate.by) {
            if (part.name.empty()) continue;
            event::Value shown = pipeline.key_value(part.field, key, static_cast<uint32_t>(pid));
            group.by.emplace_back(part.name, sink::json_text(shown));
        }
        for (const auto& cpu : map->lookup_per_cpu(key.data())) add_to(group.value, cpu);
        if (group.value.count > 0) coverage.called(aggregate, key);
        merge(std::move(group), groups);
    }
}

void Metrics::add_total(const plan::Aggregate& aggregate, std::vector<Group>& groups) const {
    Group group;
    for (const CpuAccounts& cpu : accounts()) {
        group.value.count += cpu.totals[static_cast<uint32_t>(aggregate.id)].count;
        group.value.sum += cpu.totals[static_cast<uint32_t>(aggregate.id)].sum;
    }
    merge(std::move(group), groups);
}

void Metrics::add_tallied(const plan::Aggregate& aggregate, const event::Pipeline& pipeline,
                          std::vector<Group>& groups) {
    for (const event::TallyGroup& tallied : pipeline.tallied(aggregate.id)) {
        Group group;
        for (size_t i = 0; i < tallied.by.size(); ++i) {
            group.by.emplace_back(aggregate.by[i].name, sink::json_text(tallied.by[i]));
        }
        group.value.count = tallied.count;
        group.value.sum = tallied.sum;
        group.value.inverse_min = ~tallied.min;
        group.value.max = tallied.max;
        std::ranges::copy(tallied.buckets, group.value.buckets);
        group.over_ns = tallied.over_ns;
        merge(std::move(group), groups);
    }
}

void Metrics::add_aggregate(const plan::Aggregate& aggregate, const event::Pipeline& pipeline,
                            Coverage& coverage, sink::MetricSnapshot& out) {
    const std::string& rule = plan_.rules[static_cast<uint32_t>(aggregate.rule)].place;
    std::vector<Group> groups;
    if (aggregate.is_total()) {
        add_total(aggregate, groups);
    } else {
        add_kept_by_kernel(aggregate, pipeline, coverage, groups);
    }
    add_tallied(aggregate, pipeline, groups);
    if (groups.empty() && aggregate.by.empty()) groups.emplace_back();
    std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
        return a.value.count != b.value.count ? a.value.count > b.value.count : a.by < b.by;
    });
    for (Group& group : groups) add_group(aggregate, rule, group, out);
}

void Metrics::add_group(const plan::Aggregate& aggregate, const std::string& rule, Group& group,
                        sink::MetricSnapshot& out) {
    const codegen::AggregateValue& v = group.value;
    if (aggregate.kind != plan::AggregateKind::hist) {
        bool count = aggregate.kind == plan::AggregateKind::count;
        out.stats.push_back({rule, aggregate.kind, aggregate.label, aggregate.unit,
                             std::move(group.by), count ? v.count : v.sum, v.count,
                             aggregate.is_signed, group.over_ns, aggregate.is_named});
        return;
    }
    sink::Hist hist{rule, aggregate.label, aggregate.unit, std::move(group.by), v.count, v.sum};
    hist.min = v.count > 0 ? ~v.inverse_min : 0;
    hist.max = v.max;
    for (uint32_t i = 0; i < 64; ++i) {
        if (v.buckets[i] == 0) continue;
        uint64_t low = i == 0 ? 0 : 1ull << (i - 1);
        hist.buckets.push_back({low, 1ull << i, v.buckets[i]});
    }
    out.hists.push_back(std::move(hist));
}

std::vector<Metrics::CpuAccounts> Metrics::accounts() const {
    std::vector<CpuAccounts> all;
    bpf::Map* map = loaded_.map(codegen::maps::kAccounts);
    uint32_t zero = 0;
    if (map == nullptr) return all;
    for (const auto& bytes : map->lookup_per_cpu(&zero)) {
        CpuAccounts cpu{std::vector<codegen::Account>(codegen::accounts(plan_)),
                        std::vector<codegen::Total>(plan_.aggregates.size())};
        size_t rules = cpu.rules.size() * sizeof(codegen::Account);
        size_t totals = cpu.totals.size() * sizeof(codegen::Total);
        MLBCC_CHECK(bytes.size() == rules + totals + sizeof(uint64_t));
        std::memcpy(cpu.rules.data(), bytes.data(), rules);
        if (totals > 0) std::memcpy(cpu.totals.data(), bytes.data() + rules, totals);
        all.push_back(std::move(cpu));
    }
    return all;
}

void Metrics::add_losses(const event::Pipeline& pipeline, sink::MetricSnapshot& out) {
    auto all = accounts();
    for (uint32_t rule = 0; rule < plan_.rules.size(); ++rule) {
        sink::RuleLoss loss{plan_.rules[rule].place};
        loss.sample = plan_.rules[rule].sample;
        for (const auto& cpu : all) {
            const uint64_t lost = cpu.rules[rule].lost + cpu.rules[rule].full;
            loss.submitted += cpu.rules[rule].kept + lost;
            loss.lost += lost;
        }
        loss.submitted += pipeline.looks().submitted(static_cast<plan::RuleId>(rule));
        out.losses.push_back(std::move(loss));
    }
}

sink::MetricSnapshot Metrics::snapshot(const event::Pipeline& pipeline, Coverage& coverage) {
    sink::MetricSnapshot out;
    for (const plan::Aggregate& one : plan_.aggregates) add_aggregate(one, pipeline, coverage, out);
    add_losses(pipeline, out);
    return out;
}

uint64_t Metrics::lost_process_records() const {
    uint64_t lost = 0;
    for (const CpuAccounts& cpu : accounts()) lost += cpu.rules[plan_.rules.size() + 1].lost;
    return lost;
}

// The count is of records. A record that several rules share is lost to each of them: what is
// behind the last rule says how often that was counted too much.
std::vector<event::Loss> Metrics::new_losses(uint64_t now_ns) {
    std::vector<event::Loss> losses;
    auto all = accounts();
    told_.resize(all.size());
    for (uint32_t cpu = 0; cpu < all.size(); ++cpu) {
        Told& told = told_[cpu];
        told.rules.resize(plan_.rules.size());
        event::Loss loss{now_ns, cpu};
        uint64_t records = 0;
        for (size_t rule = 0; rule < plan_.rules.size(); ++rule) {
            uint64_t lost = all[cpu].rules[rule].lost;
            if (lost > told.rules[rule]) loss.rules.push_back(plan_.rules[rule].place);
            told.rules[rule] = lost;
            records += lost;
        }
        records -= std::min(records, all[cpu].rules[plan_.rules.size()].lost);
        if (records <= told.records) continue;
        loss.count = records - std::exchange(told.records, records);
        losses.push_back(std::move(loss));
    }
    return losses;
}

}  // namespace mlbcc::trace
