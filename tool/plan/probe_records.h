// The records of one probe while rules add to them: which values they have, and what of a value
// only the tracer can compute.
//
//   size * 2 of a function   ->  the record has `size`, and the tracer doubles it
//   name[fd] of a table      ->  the record has `fd`, and the tracer looks it up
#pragma once

#include <string>

#include "plan/plan.h"

namespace mlbcc::plan {

struct AskedValue {
    std::string name;
    rules::TypedPtr value;
};

class ProbeRecords {
public:
    ProbeRecords(ProbePlan& probe, const rules::TypeTable& types) : probe_(probe), types_(types) {}

    RecordPlan& at(rules::Stage stage);
    // The field that has the value, which can_have().
    uint32_t capture(RecordPlan& record, const rules::TypedPtr& value);
    // Whether a record can have it as it is; else the tracer computes it, of parts that are.
    bool can_have(const rules::Typed& value) const;
    bool is_stored(const rules::Typed& value) const {  // likewise, and it is worth it
        return can_have(value) && !is_left_to_tracer(value);
    }
    // Captures what of a value the kernel can compute; the rest is the tracer's.
    LatePtr late(RecordPlan& record, const rules::TypedPtr& value);
    LatePtr late_look_up(RecordPlan& record, const rules::Typed& value);
    NamedField named_field(RecordPlan& record, const AskedValue& named, uint32_t mask);

private:
    uint32_t header_field(RecordPlan& record, RecordSlot field);
    std::optional<uint32_t> in_header(const rules::Typed& value) const;
    bool is_left_to_tracer(const rules::Typed& value) const;
    LatePtr late_duration(RecordPlan& record, const rules::Typed& value);

    ProbePlan& probe_;
    const rules::TypeTable& types_;
};

}  // namespace mlbcc::plan
