// The plan: for each probe what is read where, decided at which end of the call, and how the
// records look that the kernel writes. Generation (codegen/) and decoding (event/) both read it, so
// a layout is computed once.
//
// One call of a function makes at most two records: one at entry, one at return. A record carries
// all that any rule wants of that end (`Emit`s say what it means to which rule); `hits` in its
// header says which of its rules apply to this very call.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/abi.h"
#include "plan/late.h"
#include "plan/value_type.h"
#include "rules/check.h"
#include "rules/rules.h"
#include "rules/stack_kinds.h"
#include "rules/types.h"
#include "target/target.h"
#include "text/diagnostic.h"

namespace mlbcc::plan {

enum class ProbeId : uint32_t {};  // index into Plan::probes, and the probe's BPF cookie
enum class ShapeId : uint32_t {};
enum class RuleId : uint32_t {};  // Rule::index
enum class AggregateId : uint32_t {};
enum class ListId : uint32_t {};  // index into Plan::lists

// ---- the record on the wire (little endian, as the kernel's ring carries it)

enum class RecordKind : uint8_t { entry = 0, ret = 1, process = 2 };

// probe_templates/record.h has the same in C, with offsets asserted there and here.
struct RecordHeader {
    uint64_t time_ns;   // CLOCK_MONOTONIC, when the record was made
    uint32_t probe;     // ProbeId; for process records a ProcessChange
    uint32_t what;      // RecordKind in the low 7 bits, kTailCall or kGoesOn, hits in the upper 24
    uint32_t pid, tid;  // as the tracer's pid namespace sees them
    char comm[16];
    uint64_t sp;  // at the call's beginning: what lies below it on the stack is over
};
static_assert(sizeof(RecordHeader) == 48);
// At entry the return address is the kernel's own: a function that has a return probe has jumped
// here and goes on being open, though the stack pointer is the same.
inline constexpr uint32_t kTailCall = 0x80;
// Of a return record: it is not over, and told of because the trace ends.
inline constexpr uint32_t kGoesOn = 0x80;
inline constexpr uint32_t kMaxHits = 24;  // rules on one probe that write records

// Behind the header of a return record: when the call began.
struct ReturnHeader {
    uint64_t start_ns;
};

enum class ProcessChange : uint32_t { fork = 0, exec = 1, exit_thread = 2 };
struct ProcessRecord {   // follows the header of a process record
    uint32_t other;      // fork: the child's pid or tid; else 0
    uint32_t is_thread;  // fork: 1 for a thread; exit: 1 where other threads of the process live
};

// ---- values in a record

struct RecordSlot {
    ValueType type;
    uint32_t offset = 0;  // from the record's beginning, bytes
    uint32_t size = 8;    // 8, or the text's bytes
    bool placed = false;  // in what the record has anyway: its header, its words
};

// What the user stack is unwound from, at the record's end; programs have no frame pointers, so the
// kernel's own walk would end after one frame. The registers are the caller's, as they are when the
// call has returned. The record is submitted only as long as it is filled.
struct UserStack {
    uint64_t bytes;              // of the copy; kNoRoom where `ip` is 0: it was left out for that
    uint64_t returns;            // within all of it that return probes, of any tracer, await
    uint64_t more;               // of the copy, behind those, where the record has them
    uint64_t ip, sp, saved[14];  // x86-64: bp bx r12 r13 r14 r15; arm64: x29 x30 x19 ... x28
    // `bytes` from sp upward follow, `returns` of AwaitedReturn, innermost first, `more` bytes
};
inline constexpr uint32_t kMaxStackBytes = 4096;  // of them
// A return address in whose place the kernel has put that of its trampoline.
struct AwaitedReturn {
    uint64_t sp;       // at the function's entry
    uint64_t address;  // where it returns to
};
inline constexpr uint32_t kMaxAwaitedReturns = 64;  // that there is room for; one stays empty
inline constexpr uint64_t kNoRoom = 1;

// The Python functions that were running, innermost first: each stands for a code object, whose
// names are in the map `python_codes`.
enum class PythonState : uint32_t { none = 0, whole = 1, cut = 2 };
inline constexpr uint32_t kMaxPythonFrames = 64;
struct PythonStack {
    uint32_t count;
    PythonState state;
    uint64_t frames[kMaxPythonFrames];
};

// The addresses of the kernel's own functions that were being carried out, innermost first: where
// the first of them is, and where each of the others goes on.
inline constexpr uint32_t kMaxKernelFrames = 48;
struct KernelStack {
    uint64_t bytes;  // of `frames`
    uint64_t frames[kMaxKernelFrames];
};

struct RecordLayout {
    std::vector<RecordSlot> fields;
    // A 64-bit mask of the fields whose memory could not be read; only where one reads memory.
    std::optional<uint32_t> unread;
    // Of a return: where the registers of the arguments are, all of them as they were at entry.
    std::optional<uint32_t> words;
    // Where the PythonStack, the KernelStack and, last of all, the UserStack are.
    rules::ByStackKind<std::optional<uint32_t>> stack{};
    uint32_t size = 0;  // without the user stack, bytes
    bool has(rules::StackKind kind) const { return stack[kind].has_value(); }
    bool has_stack() const;
};
inline constexpr uint32_t kMaxArgumentWords = 21, kArgumentTextBytes = 64;

// ---- what a record means

struct NamedField {
    std::string name;
    uint32_t field = 0;   // index into RecordLayout::fields
    uint32_t mask = ~0u;  // shown if (hits & mask) != 0
    LatePtr late;         // not null: computed, and no single field
};

struct SpanEmit {  // B at entry, E at return
    std::string type;
    std::vector<NamedField> fields;
};
struct EventEmit {           // X at return, i at entry
    std::string type, name;  // name "": the function's base name
    std::vector<NamedField> fields;
};
struct GaugeEmit {
    std::string name;
    rules::GaugeOp op{};
    LatePtr key, value;  // key: null where the gauge has none; value: of `release`
    LatePtr group;       // null: no parts
    std::string group_name;
    LatePtr owner;  // null: nobody's
};
struct LearnEmit {
    std::string table;
    rules::LearnOp op{};
    LatePtr key, end, value;  // end: null for a single key; value: null where the operator has none
    bool takes_stack = false;  // in place of a value the record's stack is learnt
};
struct TallyEmit {  // one use of an aggregate that the tracer keeps
    AggregateId aggregate{};
    std::vector<LatePtr> by;  // values of the key, in order
    LatePtr value, over;      // sum and hist; sum
};
struct LargestEmit {  // one call that may be among the largest
    ListId list{};
    LatePtr by;
    std::vector<NamedField> fields;
};
// A function of the probe's library that the program gets by address: fields of the record. The
// tracer sees to it that calls which come by that address are traced, too.
struct TraceEmit {
    uint32_t address = 0, name = 0;
};
struct ConditionEmit {  // what of `where` only the tracer can decide: else the rule's bit is no hit
    LatePtr holds;
};

struct Emit {
    uint32_t mask = 0;        // applies if (hits & mask) != 0
    RuleId rule{};            // the rule it is accounted to (the winning one where several joined)
    rules::StackKinds stack;  // of the record's, those that go with it
    std::variant<SpanEmit, EventEmit, GaugeEmit, LearnEmit, TallyEmit, LargestEmit, TraceEmit,
                 ConditionEmit>
        what;
};

// A value to compute: the expression that codegen writes, and the record field it goes to.
struct Capture {
    rules::TypedPtr value;
    uint32_t field = 0;
};

struct RecordPlan {
    RecordLayout layout;
    std::vector<Capture> captures;  // one a layout field that is computed
    // The fields are just words of the calling convention, as they are, and at most one text: one
    // program does for all such functions. The record has the first `argument_words` of them, and
    // behind them the text to which word `argument_text` - 1 points; 0: no text.
    std::optional<uint32_t> argument_words;
    uint32_t argument_text = 0;
    std::optional<uint32_t> ret_field;  // in a return record: the function's return value
    std::vector<Emit> emits;
    std::vector<RuleId> rules;  // bit i of `hits` is rules[i]
    std::vector<Span> spans;    // of the clauses that it is for, and of conditions
    uint32_t emitting() const;  // the hits that it is written for
    uint32_t taking(rules::StackKind kind) const;  // the hits that want this part of the stack
};

// ---- aggregation

enum class AggregateKind { count, sum, hist };

struct Aggregate {  // one clause of one rule; all its probes share it (and its map)
    AggregateId id{};
    RuleId rule{};
    AggregateKind kind{};
    std::string label;
    bool is_named = false;  // by `as`: not just the text of what is measured
    rules::Unit unit = rules::Unit::none;
    bool is_signed = false;  // what is summed or measured may be negative
    uint64_t every_ns = 0;   // also read so often, and not only at the end; 0: it is not
    // Who keeps it; both, where it is known to the kernel in some functions only (TallyEmit).
    bool in_kernel = false, in_tracer = false;
    struct Key {
        std::string name;  // "function", "kernel[f]"
        RecordSlot field;  // within the key structure
    };
    // `function` and `symbol` are stored as the ProbeId. Groups that show alike are one.
    std::vector<Key> by;
    uint32_t key_size = 0;  // bytes, 0: a single group
    // Of a sum or hist of durations: where each thread and frame keeps what tells the time of calls
    // that are in calls of the same clause.
    std::optional<uint32_t> own;
    // Without groups, a count or a sum needs no map of its own.
    bool is_total() const { return key_size == 0 && kind != AggregateKind::hist && !own; }
};
inline constexpr uint32_t kMostOwn = 8;  // of a plan's aggregates
// One probe's part in an aggregate.
struct AggregateUse {
    AggregateId aggregate{};
    uint32_t hit = 0;  // bit of the rule among the shape's rules
    bool at_entry = false;
    bool is_own_known = false;        // how much of the duration is that of calls within it
    std::vector<rules::TypedPtr> by;  // values of the key, in order
    rules::TypedPtr value;            // sum and hist
    Span span;                        // of the clause
};

// The largest of what one clause of one rule sees, over all its probes: the tracer keeps them.
struct LargestList {
    RuleId rule{};
    std::string title, by;  // "Longest gaps", "gap"
    uint32_t count = 0;     // how many are kept
    rules::Unit unit = rules::Unit::none;
    bool is_signed = false;
};

// ---- probes and shapes

struct RulePart {  // one rule's decisions on one probe
    RuleId rule{};
    bool entry = false;  // it acts on the way in: `on entry`, or it only counts
    bool at_entry = false, at_return = false;  // has work at that end
    std::vector<rules::TypedPtr> entry_where;  // decided at entry
    std::vector<rules::TypedPtr> return_where;
    bool late_where = false;   // the tracer decides more of it
    uint32_t sample = 1;       // keep one call in N
    bool all = false;          // for every process
    bool traced_only = false;  // for traced processes, where another rule is for all
    bool conditional() const { return !entry_where.empty() || sample > 1 || traced_only; }
};

// A value that is known at entry and needed at return: kept in the call's frame, behind the words
// of the arguments. Only memory read at entry is kept so; what is computed from arguments is
// computed at return.
struct Saved {
    rules::TypedPtr value;
    uint32_t offset = 0, size = 8;  // within the frame's save area, bytes
};

// `interval`: looked at by the tracer; no program of the kernel's has to do with it.
enum class ProbeKind { function, kernel, syscall, tracepoint, defined, usdt, interval };
// Of a library or of the kernel: its arguments are where the calling convention puts them, and only
// at the beginning of the call.
inline bool is_function(ProbeKind kind) {
    return kind == ProbeKind::function || kind == ProbeKind::kernel;
}

struct ProbePlan {
    ProbeId id{};
    const target::Probe* probe = nullptr;
    ProbeKind kind{};
    target::Ends ends{};           // of a call only the end may be looked at: then a completion
    std::string function, symbol;  // base name and form
    std::optional<ShapeId> entry_shape, return_shape;
    target::Stacks stacks{};  // of a function's file
    const rules::Signature* signature = nullptr;
    ArgSlots slots;               // where its parameters are
    std::vector<RulePart> parts;  // bit i of `hits` is parts[i]
    std::optional<RecordPlan> entry, ret;
    std::vector<AggregateUse> aggregates;
    // All its rules are `until_known`: it is attached only while it learns something new.
    bool until_known = false;
    // Bit i: word i of the arguments (usdt: argument i) points to text read at entry.
    uint32_t text_words = 0;
    uint32_t text_bytes = 0;   // the most that is read of one of these
    uint32_t saved_words = 0;  // of arguments, from the first; all registers if any
    std::vector<Saved> saved;
    std::optional<ValueType> ret_type;  // null: void

    bool is_for_all() const;        // some rule is for every process
    uint32_t return_parts() const;  // the bits of `parts` that act at return
    bool has_entry() const { return ends != target::Ends::completion; }
    // What rules ask for is looked at when the call is over, and nothing is kept for that but time.
    bool acts_at_end() const { return !has_entry() || ends == target::Ends::timed; }
    bool has_return() const { return return_parts() != 0; }
    // No return probe: the end of a call is where an instruction of the function's returns.
    bool ends_at_instructions() const { return stacks != target::Stacks::steady && has_return(); }
    // A Go function begins anew when its stack has grown, and has registers of its own.
    bool is_of_go() const { return stacks == target::Stacks::go; }
    // Calls of one thread may overlap without one being in the other, and end in another thread: a
    // `span` of them is one event.
    bool moves() const { return stacks >= target::Stacks::switched; }
    // The parameters that its records have: bit i is parameter i; those from 64 on are left out.
    uint64_t asked_parameters() const;
    // Which parts act at return differs from call to call, so it is kept from entry to return.
    bool hits_vary() const;
    bool knows_own() const;  // of an aggregate
    bool needs_frame() const {
        return saved_words > 0 || !saved.empty() || hits_vary() || knows_own();
    }
    // Whether a frame goes from its beginning to its end; `session`: the kernel keeps 8 bytes for
    // each.
    bool is_framed(bool session) const { return !acts_at_end() && (!session || needs_frame()); }
    uint32_t saved_bytes() const;
};

// A shape is what is done at one end of a call: a body of generated C that any number of probes
// share; `example` generates it.
struct Shape {
    ShapeId id{};
    rules::Stage end{};
    ProbeId example{};
};

struct RuleInfo {
    std::string place;  // "cuda.rules:12"
    uint32_t sample = 1;
    Span head;                 // from `on` to before `{`
    bool until_known = false;  // alone on probes that are: what is lost is asked for again
};

struct Plan {
    std::deque<target::Probe> targets;  // these two grow, and what they have stays where it is
    std::deque<ProbePlan> probes;
    std::vector<Shape> shapes;
    std::vector<Aggregate> aggregates;
    std::vector<LargestList> lists;
    std::map<std::string, ShapeId> shape_ids;  // by what is done, in words
    std::map<const rules::Clause*, AggregateId> aggregate_ids;
    std::map<const rules::Clause*, ListId> list_ids;
    std::vector<RuleInfo> rules;  // by RuleId
    const rules::TypeTable* types = nullptr;
    Arch arch = Arch::x86_64;
    uint32_t frame_save_bytes = 0;            // largest save area
    uint32_t record_bytes = 0;                // largest record, stack included
    uint32_t owns() const;                    // how many aggregates have Aggregate::own
    bool takes(rules::StackKind kind) const;  // whether a record of any probe may have such a stack
    bool knows_pythons() const { return takes(rules::StackKind::python) || asks_for_python; }
    bool traces_addresses() const;    // whether some rule has a `trace`
    bool asks_for_files = false;      // whether some value is the name of an open file
    bool asks_for_python = false;     // whether some value is of where a process's Python is
    bool asks_for_functions = false;  // whether some value is the name of a program's function
    // Whether the tracer must know what lies where in the memory of programs.
    bool knows_mappings() const { return takes(rules::StackKind::user) || asks_for_functions; }
    bool asks_for_task = false;  // whether some value is of the running thread's task_struct
};

// Mistakes that show only against a prototype go to `diagnostics`. `rules` and `types` must outlive
// the plan.
Plan make_plan(std::vector<target::Probe> targets, const rules::RuleSet& rules,
               const rules::TypeTable& types, Arch arch, Diagnostics& diagnostics);

bool takes_duration(const rules::Typed& value);  // whether the call's duration is a part of it
bool is_duration(const AggregateUse& use);       // whether that is all that is measured

// What a plan that is carried out already can take in.
struct Growth {
    size_t first_probe = 0;             // index of the first that was added
    std::vector<std::string> left_out;  // functions that need what no program does, or more room
};
Growth grow(Plan& plan, std::vector<target::Probe> targets, const rules::RuleSet& rules,
            Diagnostics& diagnostics);

}  // namespace mlbcc::plan
