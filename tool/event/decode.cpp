#include "event/decode.h"

#include <algorithm>

namespace mlbcc::event {
namespace {

uint32_t span_slot(const plan::ProbePlan& probe, const std::string& type) {
    uint32_t slot = 0;
    if (!probe.entry) return slot;
    for (const plan::Emit& emit : probe.entry->emits) {
        const auto* span = std::get_if<plan::SpanEmit>(&emit.what);
        if (span == nullptr) continue;
        if (span->type == type) return slot;
        ++slot;
    }
    return slot;
}

uint32_t bytes_needed(const plan::RecordLayout& layout, bool is_return) {
    size_t bytes = is_return ? kReturnBytes : sizeof(plan::RecordHeader);
    for (const plan::RecordSlot& field : layout.fields) {
        using Kind = plan::ValueType::Kind;
        if (field.type.kind == Kind::function || field.type.kind == Kind::symbol) continue;
        bool text = field.type.kind == Kind::text || field.type.kind == Kind::comm;
        bytes = std::max<size_t>(bytes, field.offset + (text ? field.size : 8));
    }
    if (layout.unread) bytes = std::max<size_t>(bytes, *layout.unread + 8);
    return static_cast<uint32_t>(std::max<size_t>(bytes, layout.size));
}

}  // namespace

Decoder::Decoder(const plan::Plan& plan, const Tables& tables, const Gauges& gauges)
    : plan_(plan), tables_(tables), gauges_(gauges), enums_(plan.types) {
    grow();
}

void Decoder::grow() {
    while (ends_.size() < plan_.probes.size()) {
        const plan::ProbePlan& probe = plan_.probes[ends_.size()];
        Ends& ends = ends_.emplace_back();
        if (probe.entry) ends.entry.emplace(describe(probe, *probe.entry, false));
        if (probe.ret) ends.ret.emplace(describe(probe, *probe.ret, true));
    }
}

ValueReader Decoder::reader(const plan::RecordPlan& record, uint32_t field) {
    return {record.layout, field, enums_, tables_};
}

LateReader Decoder::late(const plan::RecordPlan& record, const plan::LatePtr& value) {
    return {*value, record.layout, enums_, tables_, gauges_};
}

std::optional<LateReader> Decoder::late_if(const plan::RecordPlan& record,
                                           const plan::LatePtr& value) {
    if (!value) return std::nullopt;
    return late(record, value);
}

// Clauses are met in the order of clauses(), so counting them gives their ids.
RecordMeaning Decoder::describe(const plan::ProbePlan& probe, const plan::RecordPlan& record,
                                bool is_return) {
    RecordMeaning meaning;
    meaning.probe = &probe;
    meaning.record = &record;
    meaning.is_return = is_return;
    meaning.bytes = bytes_needed(record.layout, is_return);
    if (is_return && record.ret_field) meaning.ret.emplace(reader(record, *record.ret_field));
    for (rules::StackKind kind : rules::kStackKinds)
        if (record.layout.has(kind)) meaning.stack_masks[kind] = record.taking(kind);
    for (const plan::Emit& emit : record.emits) {
        bool whole_call = is_return && std::holds_alternative<plan::EventEmit>(emit.what);
        bool alone = !std::holds_alternative<plan::ConditionEmit>(emit.what);
        if (alone) (whole_call ? meaning.at_start_mask : meaning.at_time_mask) |= emit.mask;
        add_emit(emit, meaning);
    }
    return meaning;
}

void Decoder::add_emit(const plan::Emit& emit, RecordMeaning& meaning) {
    const plan::RecordPlan& record = *meaning.record;
    struct Visitor {
        Decoder& decoder;
        const plan::Emit& emit;
        const plan::RecordPlan& record;
        RecordMeaning& meaning;

        void operator()(const plan::SpanEmit& span) {
            meaning.spans.push_back(decoder.describe_clause(emit, span.fields, record));
            meaning.spans.back().slot = span_slot(*meaning.probe, span.type);
        }
        void operator()(const plan::EventEmit& event) {
            meaning.events.push_back(decoder.describe_clause(emit, event.fields, record));
        }
        void operator()(const plan::GaugeEmit& gauge) {
            meaning.gauges.push_back(
                {emit.mask, decoder.gauges_.gauge(gauge.name), gauge.op, emit.stack.any(),
                 decoder.late_if(record, gauge.key), decoder.late_if(record, gauge.value),
                 decoder.late_if(record, gauge.group), decoder.late_if(record, gauge.owner)});
        }
        void operator()(const plan::LearnEmit& learn) {
            meaning.learns.push_back({emit.mask, *decoder.tables_.table(learn.table), learn.op,
                                      decoder.late(record, learn.key),
                                      decoder.late_if(record, learn.end),
                                      decoder.late_if(record, learn.value), learn.takes_stack});
        }
        void operator()(const plan::TallyEmit& tally) {
            TallyMeaning& out = meaning.tallies.emplace_back();
            out.mask = emit.mask;
            out.aggregate = tally.aggregate;
            for (const auto& part : tally.by) out.by.push_back(decoder.late(record, part));
            out.value = decoder.late_if(record, tally.value);
            out.over = decoder.late_if(record, tally.over);
        }
        void operator()(const plan::LargestEmit& largest) {
            meaning.largest.push_back({emit.mask, largest.list, emit.stack.any(),
                                       decoder.late(record, largest.by),
                                       decoder.describe_fields(largest.fields, record)});
        }
        void operator()(const plan::TraceEmit&) {}  // read before the record's turn (trace/)
        void operator()(const plan::ConditionEmit& condition) {
            meaning.conditions.push_back({emit.mask, decoder.late(record, condition.holds)});
        }
    };
    std::visit(Visitor{*this, emit, record, meaning}, emit.what);
}

ClauseMeaning Decoder::describe_clause(const plan::Emit& emit,
                                       const std::vector<plan::NamedField>& fields,
                                       const plan::RecordPlan& record) {
    ClauseMeaning clause;
    clause.id = static_cast<ClauseId>(clauses_++);
    clause.emit = &emit;
    clause.fields = describe_fields(fields, record);
    return clause;
}

std::vector<FieldMeaning> Decoder::describe_fields(const std::vector<plan::NamedField>& fields,
                                                   const plan::RecordPlan& record) {
    std::vector<FieldMeaning> out;
    for (uint32_t i = 0; i < fields.size(); ++i) {
        const plan::NamedField& one = fields[i];
        if (one.late) {
            out.push_back({one.name, i, one.mask, late(record, one.late)});
        } else {
            out.push_back({one.name, i, one.mask, reader(record, one.field)});
        }
    }
    return out;
}

const RecordMeaning* Decoder::meaning(const Record& record) const {
    if (record.header.probe >= ends_.size()) return nullptr;
    const Ends& ends = ends_[record.header.probe];
    const std::optional<RecordMeaning>* end = nullptr;
    switch (record.kind()) {
    case plan::RecordKind::entry: end = &ends.entry; break;
    case plan::RecordKind::ret: end = &ends.ret; break;
    case plan::RecordKind::process: break;
    }
    if (end == nullptr || !*end || record.bytes.size() < (*end)->bytes) return nullptr;
    return &**end;
}

void Decoder::values(const std::vector<FieldMeaning>& fields, uint32_t hits,
                     const ValueContext& context, std::vector<NamedValue>& out) {
    out.clear();
    for (const FieldMeaning& field : fields) {
        if ((field.mask & hits) == 0) continue;
        NamedValue one{field.name, field.read(context), field.field};
        bool again = !out.empty() && out.back().name == field.name;  // another rule's
        if (again) {
            out.back() = one;
        } else {
            out.push_back(one);
        }
    }
}

Value Decoder::key_value(const plan::RecordSlot& field, std::span<const std::byte> key) const {
    using Kind = plan::ValueType::Kind;
    Value nothing{&field.type, 0, {}, false, true};
    bool text = field.type.kind == Kind::text || field.type.kind == Kind::comm;
    if (key.size() < field.offset + (text ? field.size : 8)) return nothing;
    ValueContext context{key, nullptr, 0, tables_, names_};
    if (field.type.kind == Kind::function || field.type.kind == Kind::symbol) {
        auto probe = read_at<uint64_t>(key, field.offset);
        if (probe >= plan_.probes.size()) return nothing;
        context.probe = &plan_.probes[probe];
    }
    return ValueReader(field, enums_, tables_).read(context);
}

}  // namespace mlbcc::event
