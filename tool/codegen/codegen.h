// From a plan to BPF C. What is the same for all rules stands in templates (probe_templates/),
// readable C with a few {{slots}}; what a rule asks for is written from its checked expressions.
//
// How a call is followed depends on how probes attach:
//   session  one link, one program for both ends; a call's start is in the kernel's session cookie
//   multi    an entry and a return program on one link each
//   perf     the same two programs, on one perf event a function
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/buckets.h"
#include "base/result.h"
#include "codegen/line_map.h"
#include "plan/plan.h"

namespace mlbcc::codegen {

enum class AttachMode { session, multi, perf };
// Whose functions: of programs and libraries, of those whose calls end without a return probe
// (plan::ProbePlan::ends_at_instructions) and of Go, or of the kernel. Each side attaches in its
// own way.
enum class Side { user, moving, kernel };
inline constexpr std::array kSides{Side::user, Side::moving, Side::kernel};
// One for each side.
template <class T> struct BySide : std::array<T, kSides.size()> {
    using Base = std::array<T, kSides.size()>;
    T& operator[](Side side) { return Base::operator[](static_cast<size_t>(side)); }
    const T& operator[](Side side) const { return Base::operator[](static_cast<size_t>(side)); }
};

// Templates by file name: "record.h", "call.bpf.c", ...
using Templates = std::map<std::string, std::string, std::less<>>;

// In place of a definition's own text where that includes the kernel's headers, by its structure().
struct DefinitionText {
    std::string structures, programs;  // C
};
using DefinitionTexts = std::map<std::string, DefinitionText>;

struct NamespaceId {
    uint64_t device = 0, inode = 0;  // of /proc/self/ns/pid, as the kernel compares them
};

// What leads from a thread to the name of a file that it has open. The offsets are in the generated
// program as MLBCC_OFFSET_task_struct_files, ...
inline constexpr std::array<const char*, 6> kFileMembers{
    "task_struct.files", "files_struct.fdt",   "fdtable.max_fds",
    "fdtable.fd",        "file.f_path.dentry", "dentry.d_name.name"};

// What a program must find of the uprobe that it runs for, to do its `ret` itself. Bytes.
struct ReturnPlaces {
    uint32_t uprobe = 0;  // `auprobe` in struct uprobe_task: it begins with the instruction
    // From there to `consumers` and `offset` of the struct uprobe whose `arch` it is.
    int32_t consumers = 0, offset = 0;
    // `thread.features` in struct task_struct: whether the thread has a shadow stack.
    std::optional<uint32_t> task_shadow;
};

// Of `next`, `stack` and `orig_ret_vaddr` in the kernel's struct return_instance, bytes.
struct ReturnInstance {
    uint32_t next = 0, sp = 0, address = 0;
};

// Where the kernel tells how far a thread's stack goes, bytes: of `mm` in struct task_struct, of
// `start_stack` in what it points to, and of the thread pointer in struct task_struct.
struct StackEnds {
    uint32_t task_mm = 0, start_stack = 0;
    std::optional<uint32_t> thread_pointer;
};

struct Options {
    AttachMode mode = AttachMode::session;         // of programs' functions
    AttachMode kernel_mode = AttachMode::session;  // of the kernel's
    bool everyone = false;                         // --all: no filter by process
    std::optional<NamespaceId> namespace_;         // set where the tracer is not in the initial one
    // Where `pid` is in the kernel's task_struct: with it, forks are followed by raw tracepoints.
    std::optional<uint32_t> task_pid_offset;
    // Where the kernel preempts programs of raw tracepoints, those of tracepoints in the middle of
    // a thread's own work are perf's: docs/decisions/015-tracepoints-that-are-preempted.md
    bool points_by_perf = false;
    // Where `stack` is there: calls in the kernel are told from those of an interrupt between them.
    std::optional<uint32_t> task_stack_offset;
    // Where `thread.fsbase` is there; without it no Python functions are found.
    std::optional<uint32_t> task_fsbase_offset;
    // Where `utask` is there, and `return_instances` in what it points to: a thread that no return
    // probe awaits anywhere need not be asked where its functions return to.
    std::optional<uint32_t> task_uprobes_offset, return_instances_offset;
    std::optional<uint32_t> awaited_offset;  // of `depth` there: how many ends are awaited
    // With it, stacks reach beyond functions that return probes await.
    std::optional<ReturnInstance> return_instance;
    // With it, stacks are copied as deep as they are (stack.bpf.c).
    std::optional<StackEnds> stack_ends;
    // Where programs may set registers (x86-64's `ret` is single-stepped otherwise).
    std::optional<ReturnPlaces> return_places;
    // Where `seccomp.mode` and `pending.signal` are there: system calls that a filter answers are
    // followed, of which the kernel tells the end alone.
    std::optional<uint32_t> task_seccomp_offset, task_pending_offset;
    // Where `thread_info.status` is there, x86-64: 32-bit calls of 64-bit programs are left out.
    std::optional<uint32_t> task_status_offset;
    // Whether the tracepoint sched:sched_prepare_exec is there (Linux 6.10): before a new program.
    bool prepares_exec = false;
    // Where `start_time` is there: a call's end is its own, and not that of a process made
    // meanwhile.
    std::optional<uint32_t> task_start_offset;
    uint32_t spare_probes = 0;            // room for what the plan may grow by
    uint32_t cpus = 1;                    // that the machine may have
    size_t wake_bytes = size_t{4} << 20;  // the reader is woken when a CPU has written so much
    std::vector<uint32_t> file_offsets;   // of kFileMembers, where the plan asks for files
    const Templates* templates = nullptr;
    const DefinitionTexts* definition_texts = nullptr;

    AttachMode mode_of(Side side) const;  // a session has return probes: none for those that move
};

enum class ProgramKind {
    session,  // both ends of functions
    entry,
    ret,
    raw_tracepoint,  // on `point`
    tracepoint,      // on `point`, or where there is none, on all tracepoints of its shape
    syscall,         // called by the program on the raw tracepoint of system calls, by its shape
    kernel_session,  // as the first three, of the kernel's functions
    kernel_entry,
    kernel_ret,
    usdt,          // on the probes that programs bring along, of its shape
    python,        // where a Python interpreter begins its work
    moving_entry,  // of functions whose calls end at their own instructions
    moving_ret
};
ProgramKind program_kind(Side side, AttachMode mode, rules::Stage end);
Side side_of(ProgramKind kind);
Side side_of(const plan::ProbePlan& probe);  // of a function's

struct Function {
    std::string name;
    ProgramKind kind{};
    std::optional<plan::ShapeId> shape;  // that it does
    std::string point;                   // "sched:sched_process_exit"
    // Where calls are passed on to it: in the map `table`, or, without a name, in that of what
    // links hold, by shape.
    std::vector<uint32_t> slots;
    std::string table;
};

struct Program {
    std::string source;
    LineMap lines;  // where they come from
    std::vector<Function> functions;
    // With one shape an end of a side's functions at most, the first program of a kind serves all
    // of them.
    BySide<bool> direct{};
    // Functions that programs share, by the number with which the C text calls them.
    std::map<uint32_t, std::string> commons;
};

// Whether the probe's programs want what there is only when a call has returned: what it returned,
// and memory of then.
bool asks_for_outcome(const plan::ProbePlan& probe);

// Fails only where a template is missing or lacks a slot.
Result<Program> generate(const plan::Plan& plan, const Options& options);

// The source with the rules' text above what carries it out, as comments. `own`: without the lines
// of templates before and behind what is made from rules; a comment has their number.
enum class Annotated { whole, own };
std::string annotated(const Program& program, Annotated what);
// The source with its own lines' numbers in each `#line`, so that messages name those.
std::string numbered(const std::string& source);

// Probes that templates define: a file in probe_templates/probes/ says what the probe is called,
// which fields it has, and where its C programs are attached; they call `fire_GROUP_NAME` when it
// happens.
//
//   //= probe sched:off_cpu completion            or `moment`: it has no duration
//   //= raw_tracepoint sched_switch off_cpu_switch       a program, and where it runs
//   //= tracepoint block:block_rq_issue block_io_issue
//   //= task_tracepoint raw_syscalls:sys_enter futex_begins
//                                                raw, or where MLBCC_BY_PERF is 1 perf's: it is in
//                                                the middle of a thread's own work
//   //= goes_on futex_waits futex_goes_on         what is not over when the trace ends: a table,
//   and
//                                                the program that tells of one, run with its key
//   //= found_waiting futex_found                 the program that takes in a thread that waited
//                                                before the trace began
//   //= offset task_struct.tgid                   MLBCC_OFFSET_task_struct_tgid, from the kernel's
//   BTF
//   //= offset block:block_rq_issue.sector        likewise, from the tracepoint's format file
//   //= fields
//   struct sched_off_cpu { int waker; };          C for libclang and for BPF
//   //= programs
//   int off_cpu_switch(struct bpf_raw_tracepoint_args *at) { ... }
// Errors name the file and the line.
Result<rules::ProbeDefinition> read_definition(const std::string& file, std::string_view text);

// The names of the maps that the tracer reads or writes.
namespace maps {
inline constexpr const char* kRings = "rings";        // by CPU
inline constexpr const char* kControl = "control";    // Control, by what begins
inline constexpr const char* kSwitched = "switched";  // by thread and order: Control's change
inline constexpr const char* kTraced = "traced";      // process id to Process
inline constexpr const char* kSuspects = "suspects";  // by its last 12 bits: 1 if it may be one
inline constexpr const char* kSyscalls = "syscalls";  // by number: cookie, 0: not wanted
inline constexpr const char* kSyscallShapes = "syscall_shapes";  // programs
inline constexpr const char* kSeeds = "seeds";               // ids in our namespace, to be adopted
inline constexpr const char* kAccounts = "accounts";         // by rule and CPU
inline constexpr const char* kWork = "work";                 // by ProbeId: Work, in parts
inline constexpr const char* kRecordRules = "record_rules";  // by record_index()
inline constexpr const char* kPythons = "pythons";           // process id to Python
inline constexpr const char* kPythonSeeds = "python_seeds";  // likewise, as our namespace names it
inline constexpr const char* kPythonFiles = "python_files";  // cookie to Python
inline constexpr const char* kPythonCodes = "python_codes";  // frame to PythonCode
std::string aggregate(plan::AggregateId id);                 // "aggregate_3"
inline constexpr const char* kEnds = "ends";                 // programs
const char* rests(Side side);                                // programs, by shape
}  // namespace maps

// What programs do with calls that begin, in `control` at kFunctions and kOthers; while the rules
// change, kChange has the number of the change (probe_templates/runtime.bpf.c).
enum class Control : uint32_t { pass, take, leaving, coming };
inline constexpr uint32_t kFunctions = 0, kOthers = 1, kChange = 2;

// One rule's records on one CPU. `accounts` has, by CPU, one for each RuleId, one for records that
// rules share (how many times more than once each was counted), one for process records, one for
// each of rule_sets(), unused ones up to accounts(), then a Total for each AggregateId, and last 8
// bytes that are the programs' own.
struct Account {
    uint64_t kept, lost;
    uint64_t full;  // updates of count, sum, hist that found their map full
};
size_t accounts(const plan::Plan& plan);  // a power of two, by which programs stay within them
// Rules that share a record: where all of them ask for it, it is accounted to their set. A plan
// that grows appends sets; those that were there keep their places.
struct AccountedRules {
    std::vector<plan::RuleId> rules;
    uint32_t account = 0;  // its place
};
std::vector<AccountedRules> rule_sets(const plan::Plan& plan);
struct Total {
    uint64_t count, sum;
};
// What a probe made of its threads' time: of traced processes alone. A value of `work` has several,
// for CPUs to use in turn.
struct ProbeWork {
    uint64_t hits, let_go;     // let_go: calls whose end a session was told not to await
    uint64_t records;          // of both ends, lost ones too
    uint64_t timed, timed_ns;  // some of them: from the probe's beginning until they were made
    uint64_t too_deep;         // calls whose end is not awaited, since those of too many are
    uint64_t of_32_bit;        // calls of the 32-bit interface that have its number
    uint64_t unused;
};
// A thread that a template's program takes in (`//= found_waiting`), as probe_templates/waits.bpf.c
// has it.
struct Waiter {
    uint32_t tgid, thread, pid, tid;  // the kernel's own numbers, and those in our namespace
    uint64_t since_ns, woken_ns, ran_ns, taken;
    char comm[16];
    uint64_t arguments[6];
    int32_t system_call;  // -1: none
    uint32_t state, file, unused;
};
static_assert(sizeof(Waiter) == 128);
// The rules that a record is accounted to, as `struct record_rules` has them: so many words.
size_t record_rules_words(const plan::Plan& plan);
std::vector<uint64_t> record_rules(const plan::RecordPlan& record, size_t words,
                                   const std::vector<AccountedRules>& sets);
inline constexpr uint32_t record_index(plan::ProbeId probe, bool at_return) {
    return 2 * static_cast<uint32_t>(probe) + (at_return ? 1 : 0);
}
struct Process {         // value of `traced` (by the kernel's pid) and `seeds` (by ours)
    uint32_t ppid, pid;  // as the tracer's namespace sees them; 0 until known
    int32_t threads;     // that run
    uint32_t unused;
};
// Where Python's state and frames are found in a process, and the names of a code object, as
// probe_templates/pythons.bpf.c and python.bpf.c have them.
struct Python {
    uint64_t state = 0;
    uint32_t bytes = 0;
    uint16_t key = 0, thread_id = 0, frame = 0, inner = 0, back = 0, code = 0, owner = 0, names = 0,
             line = 0;
    uint8_t ascii = 0, text = 0, c_stack = kNone, indirect = 0, holder = 0, interpreters = 0,
            threads = 0, unused = 0;
    static constexpr uint8_t kNone = 0xff;  // c_stack of those whose frames have no owner
};
static_assert(sizeof(Python) == 40);
struct PythonText {
    uint32_t kind, bytes;  // bytes a character, with kAscii if it is
    char data[128];
    static constexpr uint32_t kAscii = 0x100, kMaxBytes = 96;
};
struct PythonCode {
    uint64_t id;
    uint32_t line, unused;
    PythonText file, name;
};
struct AggregateValue {  // of each kind the first fields; per CPU
    uint64_t count, sum;
    uint64_t own, own_unknown;  // ns, without calls within; of how many calls that is not known
    uint64_t inverse_min, max;  // ordered()
    buckets::Counts buckets;    // of unsigned values the first buckets::kUnsigned
};

// A probe's cookie (probe_templates/call.bpf.c): which probe, how many words of arguments its
// record has and which of them points to text, which shapes its ends are of.
uint64_t cookie(const plan::ProbePlan& probe);
// What an instruction is to the calls of a function on Side::moving, as
// probe_templates/moving.bpf.c has it: in the place of the text.
enum class Role : uint64_t {
    returns = 0,
    jumps = 1,             // leaves the function for another place, which returns for it
    arrives = 2,           // where a function begins that it may have jumped to
    arrives_inside = 3,    // likewise in the middle of one
    returns_elsewhere = 4  // of what it may have jumped to
};
Role jumps_if(uint32_t condition);  // x86-64's number: CodeJump::condition
// Of where a Go function asks for room on its stack, and its calls begin.
inline constexpr Role kChecksStack{31};
uint64_t cookie(const plan::ProbePlan& probe, Role role);
inline constexpr unsigned kWordsShift = 22, kTextShift = 27, kEntryShapeShift = 32,
                          kReturnShapeShift = 48;
inline constexpr uint32_t kMaxSyscalls = 1024;
inline constexpr uint32_t kNoShape = (1u << 16) - 1;  // of an end that has nothing to do

}  // namespace mlbcc::codegen
