// What a record means, worked out once from the plan: for each probe and each end of the call the
// clauses, gauges and learnt names, with readers for their fields; and the values of an event.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "event/event.h"
#include "event/gauges.h"
#include "event/late_value.h"
#include "event/record.h"
#include "event/tables.h"
#include "event/values.h"

namespace mlbcc::event {

struct FieldMeaning {
    std::string_view name;
    uint32_t field = 0;  // index into the clause's fields
    uint32_t mask = 0;
    std::variant<ValueReader, LateReader> reader;
    Value read(const ValueContext& context) const {
        return std::visit([&](const auto& one) { return one.read(context); }, reader);
    }
};

struct ClauseMeaning {  // a span or an event
    ClauseId id{};
    const plan::Emit* emit = nullptr;
    uint32_t slot = 0;  // of a span: which of the probe's, the same at both ends
    std::vector<FieldMeaning> fields;
    bool applies(uint32_t hits) const { return (emit->mask & hits) != 0; }
};

struct LearnMeaning {
    uint32_t mask = 0;
    TableId table{};
    rules::LearnOp op{};
    LateReader key;
    std::optional<LateReader> end, value;
    bool takes_stack = false;
};

struct TallyMeaning {
    uint32_t mask = 0;
    plan::AggregateId aggregate{};
    std::vector<LateReader> by;
    std::optional<LateReader> value, over;
};

struct LargestMeaning {
    uint32_t mask = 0;
    plan::ListId list{};
    bool stack = false;
    LateReader by;
    std::vector<FieldMeaning> fields;
};

struct ConditionMeaning {  // of the hits in `mask`: false takes them out
    uint32_t mask = 0;
    LateReader holds;
};

struct GaugeMeaning {
    uint32_t mask = 0;
    uint32_t gauge = 0;
    rules::GaugeOp op{};
    bool stack = false;
    std::optional<LateReader> key, value, group, owner;
};

// All that records of one probe mean at one end of the call.
struct RecordMeaning {
    const plan::ProbePlan* probe = nullptr;
    const plan::RecordPlan* record = nullptr;
    bool is_return = false;
    uint32_t bytes = 0;          // the least that a record has
    uint32_t at_time_mask = 0;   // hits that mean something when the record was made
    uint32_t at_start_mask = 0;  // hits that mean a whole call, placed at its beginning
    rules::ByStackKind<uint32_t> stack_masks{};  // hits that want this part of the stack
    std::vector<ClauseMeaning> spans, events;
    std::vector<LearnMeaning> learns;
    std::vector<GaugeMeaning> gauges;
    std::vector<TallyMeaning> tallies;
    std::vector<LargestMeaning> largest;
    std::vector<ConditionMeaning> conditions;
    std::optional<ValueReader> ret;
};

class Decoder {
public:
    Decoder(const plan::Plan& plan, const Tables& tables, const Gauges& gauges);
    void grow();  // the plan has more probes

    // Null for a record that the plan does not know or that is too short: malformed.
    const RecordMeaning* meaning(const Record& record) const;

    // The values that a clause with these fields shows of a record, in `out`, which is emptied
    // first.
    static void values(const std::vector<FieldMeaning>& fields, uint32_t hits,
                       const ValueContext& context, std::vector<NamedValue>& out);

    // A part of an aggregate's key. `function` and `symbol` are stored as the ProbeId. Null-valued
    // (unread) where the bytes are too few or name no probe.
    Value key_value(const plan::RecordSlot& field, std::span<const std::byte> key) const;

private:
    struct Ends {
        std::optional<RecordMeaning> entry, ret;
    };
    void add_emit(const plan::Emit& emit, RecordMeaning& meaning);
    RecordMeaning describe(const plan::ProbePlan& probe, const plan::RecordPlan& record,
                           bool is_return);
    ClauseMeaning describe_clause(const plan::Emit& emit,
                                  const std::vector<plan::NamedField>& fields,
                                  const plan::RecordPlan& record);
    std::vector<FieldMeaning> describe_fields(const std::vector<plan::NamedField>& fields,
                                              const plan::RecordPlan& record);
    ValueReader reader(const plan::RecordPlan& record, uint32_t field);
    LateReader late(const plan::RecordPlan& record, const plan::LatePtr& value);
    std::optional<LateReader> late_if(const plan::RecordPlan& record, const plan::LatePtr& value);

    const plan::Plan& plan_;
    const Tables& tables_;
    const Gauges& gauges_;
    mutable EnumTable enums_;
    mutable CxxNames names_;
    uint32_t clauses_ = 0;
    std::vector<Ends> ends_;  // by ProbeId
};

}  // namespace mlbcc::event
