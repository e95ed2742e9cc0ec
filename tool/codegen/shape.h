// Writes the two halves of one shape: what is done at the call's beginning and at its end.
#pragma once

#include <string>

#include "codegen/codegen.h"
#include "codegen/writer.h"

namespace mlbcc::codegen {

class ShapeWriter {
public:
    ShapeWriter(const plan::Plan& plan, const plan::Shape& shape, AttachMode mode);
    std::string declarations();  // the structures of its records, with asserted offsets
    std::string entry();
    std::string leave();

private:
    std::string record_struct(const plan::RecordPlan& record, bool is_return);
    void decide(Writer& w);
    void sample(Writer& w, const plan::RulePart& part);
    void record(Writer& w, const plan::RecordPlan& record, bool is_return);
    void stack(Writer& w, const plan::RecordPlan& record, bool is_return);
    void lose(Writer& w, const plan::RecordPlan& record);
    void accounts(Writer& w, const plan::RecordPlan& record, uint32_t emitting);
    void aggregates(Writer& w, bool at_entry);
    void aggregate(Writer& w, const plan::AggregateUse& use);
    void begin_call(Writer& w);
    void find_call(Writer& w);
    bool framed() const { return mode_ != AttachMode::session || shape_.needs_frame; }
    uint32_t all_parts() const { return (1u << probe_.parts.size()) - 1; }
    bool hits_constant() const;

    const plan::Plan& plan_;
    const plan::Shape& shape_;
    const plan::ProbePlan& probe_;
    AttachMode mode_;
    std::string name_;
};

// Records up to this size are put together on BPF's stack of 512 bytes.
inline constexpr uint32_t kMaxStackRecord = 200;
std::string shape_name(plan::ShapeId id);

}  // namespace mlbcc::codegen
