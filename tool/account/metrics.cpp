#include "account/metrics.h"

#include <algorithm>
#include <cstring>

namespace mlbcc::account {
namespace {

// A group's value over all CPUs.
void add_to(codegen::AggregateValue& total, const std::vector<std::byte>& bytes) {
    codegen::AggregateValue one{};
    std::memcpy(&one, bytes.data(), std::min(bytes.size(), sizeof one));
    total.count += one.count;
    total.sum += one.sum;
    total.own += one.own;
    total.own_unknown += one.own_unknown;
    total.inverse_min = std::max(total.inverse_min, one.inverse_min);
    total.max = std::max(total.max, one.max);
    for (size_t i = 0; i < one.buckets.size(); ++i) total.buckets[i] += one.buckets[i];
}

void add_to(codegen::AggregateValue& total, const codegen::AggregateValue& other) {
    std::vector<std::byte> bytes(sizeof other);
    std::memcpy(bytes.data(), &other, sizeof other);
    add_to(total, bytes);
}

std::optional<uint64_t> own_of(const plan::Aggregate& aggregate, const codegen::AggregateValue& v) {
    const bool is_known = aggregate.own && v.own_unknown == 0 && v.count > 0;
    return is_known ? std::optional(v.own) : std::nullopt;
}

sink::Hist hist_of(const plan::Aggregate& aggregate, const std::string& rule,
                   Metrics::Group group) {
    const codegen::AggregateValue& v = group.value;
    sink::Hist hist{rule, aggregate.label, aggregate.unit, std::move(group.by), v.count, v.sum};
    hist.is_signed = aggregate.is_signed;
    hist.own = own_of(aggregate, v);
    hist.lost.by_records = aggregate.in_tracer;
    if (v.count > 0) {
        hist.min = buckets::ordered(~v.inverse_min, aggregate.is_signed);
        hist.max = buckets::ordered(v.max, aggregate.is_signed);
    }
    buckets::for_each_bucket(aggregate.is_signed, [&](size_t bucket) {
        if (v.buckets[bucket] == 0) return;
        const buckets::Bounds bounds = buckets::bounds_of(bucket, aggregate.is_signed);
        hist.buckets.push_back({bounds.low, bounds.high, v.buckets[bucket]});
    });
    return hist;
}

}  // namespace

void Metrics::merge(Group group, std::vector<Group>& groups) {
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const Group& known) { return known.by == group.by; });
    if (same == groups.end()) {
        groups.push_back(std::move(group));
    } else {
        add_to(same->value, group.value);
        same->over_ns += group.over_ns;
    }
}

std::vector<Metrics::Kept> Metrics::kept_by_kernel(const plan::Aggregate& aggregate) {
    std::vector<Kept> all;
    if (aggregate.is_total()) {
        Kept& total = all.emplace_back();
        for (const CpuAccounts& cpu : accounts()) {
            total.value.count += cpu.totals[static_cast<uint32_t>(aggregate.id)].count;
            total.value.sum += cpu.totals[static_cast<uint32_t>(aggregate.id)].sum;
        }
        return all;
    }
    bpf::Map* map = loaded_.map(codegen::maps::aggregate(aggregate.id));
    if (map == nullptr) return all;
    for (std::vector<std::byte>& key : map->keys()) {
        Kept& one = all.emplace_back();
        one.key = std::move(key);
        for (const auto& cpu : map->lookup_per_cpu(one.key.data())) add_to(one.value, cpu);
    }
    return all;
}

sink::Group Metrics::shown(const plan::Aggregate& aggregate, std::span<const std::byte> key,
                           const event::Pipeline& pipeline) {
    sink::Group by;
    for (const plan::Aggregate::Key& part : aggregate.by) {
        event::Value value = pipeline.key_value(part.field, key);
        by.emplace_back(part.name, sink::json_text(value));
    }
    return by;
}

std::vector<Metrics::Group> Metrics::tallied(const plan::Aggregate& aggregate,
                                             const event::Pipeline& pipeline) {
    std::vector<Group> groups;
    for (const event::TallyGroup& tallied : pipeline.tallied(aggregate.id)) {
        Group& group = groups.emplace_back();
        for (size_t i = 0; i < tallied.by.size(); ++i) {
            group.by.emplace_back(aggregate.by[i].name, sink::json_text(tallied.by[i]));
        }
        group.value.count = tallied.count;
        group.value.sum = tallied.sum;
        group.value.own_unknown = tallied.count;
        group.value.inverse_min = ~buckets::ordered(tallied.min, aggregate.is_signed);
        group.value.max = buckets::ordered(tallied.max, aggregate.is_signed);
        group.value.buckets = tallied.buckets;
        group.over_ns = tallied.over_ns;
    }
    return groups;
}

void Metrics::add_aggregate(const plan::Aggregate& aggregate, const event::Pipeline& pipeline,
                            Coverage& coverage, sink::MetricSnapshot& out) {
    std::vector<Group> groups;
    auto add = [&](Group group) {
        if (group.value.count > 0 || group.by.empty()) merge(std::move(group), groups);
    };
    for (const Kept& one : kept_by_kernel(aggregate)) {
        if (one.value.count > 0 && !aggregate.is_total()) coverage.called(aggregate, one.key);
        add({shown(aggregate, one.key, pipeline), one.value});
    }
    for (Group& group : tallied(aggregate, pipeline)) add(std::move(group));
    if (groups.empty() && aggregate.by.empty()) groups.emplace_back();
    show(aggregate, std::move(groups), out.stats, out.hists);
}

void Metrics::show(const plan::Aggregate& aggregate, std::vector<Group> groups,
                   std::vector<sink::Stat>& stats, std::vector<sink::Hist>& hists) const {
    const std::string& rule = plan_.rules[static_cast<uint32_t>(aggregate.rule)].place;
    std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
        return a.value.count != b.value.count ? a.value.count > b.value.count : a.by < b.by;
    });
    for (Group& group : groups) {
        const codegen::AggregateValue& v = group.value;
        if (aggregate.kind != plan::AggregateKind::hist) {
            bool count = aggregate.kind == plan::AggregateKind::count;
            stats.push_back({rule, aggregate.kind, aggregate.label, aggregate.unit,
                             std::move(group.by), count ? v.count : v.sum, v.count,
                             aggregate.is_signed, group.over_ns, aggregate.is_named});
            stats.back().own = own_of(aggregate, v);
            stats.back().lost.by_records = aggregate.in_tracer;
        } else {
            hists.push_back(hist_of(aggregate, rule, std::move(group)));
        }
    }
}

// To each rule what its sets have: of them all but one are told as shared.
static void share_out(const plan::Plan& plan, const std::vector<codegen::AccountedRules>& sets,
                      std::vector<codegen::Account>& accounts) {
    for (const codegen::AccountedRules& set : sets) {
        const codegen::Account together = accounts[set.account];
        const uint64_t more = set.rules.size() - 1;
        codegen::Account& shared = accounts[plan.rules.size()];
        shared.kept += more * together.kept;
        shared.lost += more * together.lost;
        for (plan::RuleId rule : set.rules) {
            accounts[static_cast<uint32_t>(rule)].kept += together.kept;
            accounts[static_cast<uint32_t>(rule)].lost += together.lost;
        }
    }
}

// Accounts are read several times a second.
const std::vector<codegen::AccountedRules>& Metrics::rule_sets() const {
    if (rule_sets_of_ != plan_.probes.size()) {
        rule_sets_ = codegen::rule_sets(plan_);
        rule_sets_of_ = plan_.probes.size();
    }
    return rule_sets_;
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
        share_out(plan_, rule_sets(), cpu.rules);
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
            const uint64_t lost = plan_.rules[rule].until_known ? 0 : cpu.rules[rule].lost;
            loss.submitted += cpu.rules[rule].kept + lost;
            loss.lost += lost;
            loss.no_group += cpu.rules[rule].full;
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
            if (plan_.rules[rule].until_known) continue;
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

}  // namespace mlbcc::account
