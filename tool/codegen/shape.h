// Writes the body of one shape: what is done at the beginning of a call, or at its end.
#pragma once

#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/writer.h"

namespace mlbcc::codegen {

class ShapeWriter {
public:
    ShapeWriter(const plan::Plan& plan, const plan::Shape& shape, AttachMode mode);
    std::string declarations();  // the structure of its record, with asserted offsets
    Source body();
    Source take_stack();  // of a probe that a template defines
    bool is_session() const {
        return plan::is_function(probe_.kind) && mode_ == AttachMode::session;
    }
    const char* ends_by() const;  // call.ends_by
    // What a program returns where nothing is to be done.
    const char* skip() const { return is_session() ? "1" : "0"; }
    // Likewise, where that is known only now: a session does without the end's probe then.
    const char* let_go() const { return is_session() ? "mlbcc_let_go(&call, 1)" : "0"; }
    std::vector<Span> heads() const;  // of the rules whose work it is
    // How the end of a system call is taken.
    const char* syscall_end() const;
    // Whether the beginning of a call can be done in two halves (halves.h); what the second does.
    bool can_be_halved() const;
    bool has_rest() const;
    Source rest();
    // Whether the record of a call's end, a large one, can be submitted by a program that functions
    // share.
    bool can_end_apart() const;
    bool can_end_syscall_apart() const;  // likewise, of a record of either end
    void end_apart() { ends_apart_ = true; }

private:
    Source entry();
    Source leave();

    void decide(CodeWriter& w);
    void sample(CodeWriter& w, const plan::RulePart& part);
    void hold(CodeWriter& w);
    void read_ahead(CodeWriter& w);
    void begin_call(CodeWriter& w);
    void begin_call_apart(CodeWriter& w);
    void save(CodeWriter& w);
    void save_rest(CodeWriter& w);
    void save_stack_words(CodeWriter& w);
    void save(CodeWriter& w, const plan::Saved& saved);
    bool needs_caller() const;
    bool only_counts() const;
    void find_call(CodeWriter& w);
    void decide_at_end(CodeWriter& w);
    void decide_by_end(CodeWriter& w, std::string_view hits);

    // Records (shape_record.cpp)
    std::string checks(const plan::RecordLayout& layout);
    void record(CodeWriter& w, const plan::RecordPlan& record);
    void in_scratch(CodeWriter& w, const plan::RecordPlan& record);
    bool may_be_deep(const plan::RecordPlan& record) const;
    std::string room() const;
    void put_together(CodeWriter& w, const plan::RecordPlan& record);
    void fill(CodeWriter& w, const plan::RecordPlan& record);
    static std::vector<rules::TypedPtr> stored(const plan::RecordPlan& record);
    uint32_t room_together(const plan::RecordPlan& record) const;  // bytes
    void stack(CodeWriter& w, const plan::RecordPlan& record);
    void python(CodeWriter& w, const plan::RecordPlan& record);
    void kernel_stack(CodeWriter& w, const plan::RecordPlan& record);

    // Aggregates (shape_aggregate.cpp)
    void aggregates(CodeWriter& w);
    void aggregate(CodeWriter& w, const plan::AggregateUse& use);
    void group_key(CodeWriter& w, const plan::AggregateUse& use);
    void new_group(CodeWriter& w, const std::string& map, bool in_room);

    bool is_return() const { return shape_.end == rules::Stage::ret; }
    bool is_syscall() const { return probe_.kind == plan::ProbeKind::syscall; }
    bool framed() const { return probe_.is_framed(is_session()); }
    bool hits_constant() const;
    uint32_t registers() const { return plan::argument_registers(plan_.arch); }
    const std::optional<plan::RecordPlan>& own_record() const {
        return is_return() ? probe_.ret : probe_.entry;
    }

    const plan::Plan& plan_;
    const plan::Shape& shape_;
    const plan::ProbePlan& probe_;
    AttachMode mode_;
    std::string name_;
    bool ends_apart_ = false;
};

// Records up to this size are put together on BPF's stack of 512 bytes.
inline constexpr uint32_t kMaxStackRecord = 160;
inline constexpr uint32_t kMaxTogether = 48;  // bytes of memory that are read at once
inline constexpr uint32_t kMaxOnStack = 200;  // such a record and these
bool fits_on_stack(const plan::Plan& plan, plan::ProbeKind kind, const plan::RecordPlan& record);
bool has_large_record(const plan::Plan& plan, const plan::ProbePlan& probe);  // that does not fit
inline constexpr size_t kRuleSets = 16;        // that have an account, and
inline constexpr size_t kLeastRulesOfSet = 3;  // rules at least
bool is_text(const plan::RecordSlot& field);
// How many probes have room of their own in a thread's state, and the place of one of them.
uint32_t count_taken(const plan::Plan& plan);
std::optional<uint32_t> place_taken(const plan::Plan& plan, const plan::ProbePlan& probe);
// Whether large records are put together in the middle of programs of functions and system calls.
bool needs_room_between(const plan::Plan& plan);
uint32_t most_rules(const plan::Plan& plan);  // of one function
std::string shape_name(plan::ShapeId id);
// Whether a system call's beginning may have to wait for memory that it reads.
bool may_be_held(const plan::ProbePlan& probe);

}  // namespace mlbcc::codegen
