#include "event/looks.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace mlbcc::event {
namespace {

constexpr size_t kMaxGroups = 10240;  // of one count, sum or hist

template <class T> void put(std::span<std::byte> to, size_t offset, const T& value) {
    std::memcpy(to.data() + offset, &value, sizeof value);
}

void put_text(std::span<std::byte> to, uint32_t offset, uint32_t size, std::string_view text) {
    std::memcpy(to.data() + offset, text.data(), std::min<size_t>(text.size(), size - 1));
}

// Text of a process's own; names that were learnt are looked up by their key.
bool is_stored_as_text(const rules::Typed& value) {
    bool text = value.show == rules::Show::text || value.show == rules::Show::comm;
    return text && !std::holds_alternative<rules::LearntNode>(value.node);
}

// False: the value could not be read.
bool put_value(std::span<std::byte> to, const plan::Field& field, const rules::Typed& value,
               const Evaluator& evaluator) {
    if (is_stored_as_text(value)) {
        put_text(to, field.offset, field.size, evaluator.text(value));
        return true;
    }
    Number number = evaluator.number(value);
    put(to, field.offset, number.bits);
    return !number.unread;
}

uint32_t decided(const plan::ProbePlan& probe, const Evaluator& evaluator) {
    uint32_t hits = 0;
    for (size_t i = 0; i < probe.parts.size(); ++i) {
        const plan::RulePart& part = probe.parts[i];
        bool all = std::ranges::all_of(part.entry_where, [&](const rules::TypedPtr& condition) {
            return evaluator.holds(*condition);
        });
        if (all && part.at_entry) hits |= 1u << i;
    }
    return hits;
}

size_t bucket_of(uint64_t value) {
    return static_cast<int64_t>(value) <= 0 ? 0 : static_cast<size_t>(std::bit_width(value)) & 63;
}

}  // namespace

std::span<const std::byte> Looks::take(const Look& look) {
    const plan::ProbePlan& probe = plan_.probes[static_cast<uint32_t>(look.probe)];
    Evaluator evaluator(*plan_.types, look);
    uint32_t hits = decided(probe, evaluator), emitting = 0;
    for (const plan::AggregateUse& use : probe.aggregates) {
        if ((hits & use.hit) != 0) aggregate(use, evaluator, look);
    }
    record_.clear();
    if (!probe.entry) return record_;
    for (const plan::Emit& emit : probe.entry->emits) emitting |= emit.mask;
    if ((hits & emitting) != 0) write_record(*probe.entry, hits & emitting, evaluator, look);
    return record_;
}

void Looks::write_record(const plan::RecordPlan& record, uint32_t hits, const Evaluator& evaluator,
                         const Look& look) {
    record_.assign(record.layout.size, std::byte{});
    plan::RecordHeader header{};
    header.time_ns = look.time_ns;
    header.probe = static_cast<uint32_t>(look.probe);
    // It says nothing of calls that are open: as after a tail call, at no place of the stack.
    header.what = static_cast<uint32_t>(plan::RecordKind::entry) | plan::kTailCall | hits << 8;
    header.pid = header.tid = look.pid;
    std::memcpy(header.comm, look.comm.data(), std::min(look.comm.size(), sizeof header.comm - 1));
    put(record_, 0, header);
    uint64_t unread = 0;
    for (const plan::Capture& one : record.captures) {
        const plan::Field& field = record.layout.fields[one.field];
        if (!put_value(record_, field, *one.value, evaluator)) unread |= 1ull << (one.field & 63);
    }
    if (record.layout.unread) put(record_, *record.layout.unread, unread);
    for (size_t i = 0; i < record.rules.size(); ++i) {
        if ((hits >> i & 1) != 0) ++account(record.rules[i]).submitted;
    }
}

void Looks::aggregate(const plan::AggregateUse& use, const Evaluator& evaluator, const Look& look) {
    const plan::Aggregate& shared = plan_.aggregates[static_cast<uint32_t>(use.aggregate)];
    Number value = use.value ? evaluator.number(*use.value) : Number{};
    std::vector<std::byte> key(shared.key_size);
    bool known = !value.unread;
    for (size_t i = 0; i < use.by.size(); ++i) {
        known = put_value(key, shared.by[i].field, *use.by[i], evaluator) && known;
    }
    if (!known) return;
    if (shared.by.size() > use.by.size()) {  // the process that a learnt name belongs to
        put(std::span(key), shared.by.back().field.offset, uint64_t{look.pid});
    }
    groups_.resize(plan_.aggregates.size());
    LookGroups& groups = groups_[static_cast<uint32_t>(use.aggregate)];
    if (groups.size() >= kMaxGroups && !groups.contains(key)) {
        ++account(shared.rule).full;
        return;
    }
    LookGroup& group = groups[std::move(key)];
    ++group.count;
    group.sum += value.bits;
    group.min = std::min(group.min, value.bits);
    group.max = std::max(group.max, value.bits);
    ++group.buckets.at(bucket_of(value.bits));
}

Looks::Account& Looks::account(plan::RuleId rule) {
    accounts_.resize(plan_.rules.size());
    return accounts_[static_cast<uint32_t>(rule)];
}

const LookGroups& Looks::groups(plan::AggregateId aggregate) const {
    static const LookGroups none;
    auto index = static_cast<uint32_t>(aggregate);
    return index < groups_.size() ? groups_[index] : none;
}

uint64_t Looks::full(plan::RuleId rule) const {
    auto index = static_cast<uint32_t>(rule);
    return index < accounts_.size() ? accounts_[index].full : 0;
}

uint64_t Looks::submitted(plan::RuleId rule) const {
    auto index = static_cast<uint32_t>(rule);
    return index < accounts_.size() ? accounts_[index].submitted : 0;
}

}  // namespace mlbcc::event
