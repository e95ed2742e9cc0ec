// A rule file as a tree: what the user wrote, with the place of every part. Nothing here knows of
// the machine; names are not looked up yet (check.h does that against C prototypes).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "rules/stack_kinds.h"
#include "text/diagnostic.h"

namespace mlbcc::rules {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

enum class UnaryOp {
    deref,
    address,
    minus,
    plus,
    bit_not,
    logical_not,
    in_python  // in_python(address)
};
enum class BinaryOp {
    mul,
    div,
    mod,
    add,
    sub,
    shl,
    shr,
    lt,
    le,
    gt,
    ge,
    eq,
    ne,
    bit_and,
    bit_xor,
    bit_or,
    logical_and,
    logical_or,
    starts_with,  // starts_with(a, b), and so on
    ends_with,
    contains,
    matches  // a ~ "*.json"
};
enum class Unit { none, nanoseconds, bytes };

struct NumberExpr {
    uint64_t value = 0;  // already multiplied: 1MiB is 1048576, 5ms is 5000000
    Unit unit = Unit::none;
    bool hex = false;
};
struct CharExpr {
    uint8_t value = 0;
};
struct StringExpr {
    std::string value;
};
struct NameExpr {
    std::string name;
};
struct ArgExpr {  // arg(N)
    uint32_t index = 0;
};
struct StrExpr {  // str(expr [, N])
    ExprPtr pointer;
    uint32_t length = 64;  // bytes, with the terminating zero
};
struct FileNameExpr {  // file_name(expr)
    ExprPtr descriptor;
};
struct DemangleExpr {  // demangle(expr)
    ExprPtr text;
};
enum class LearntPart { size, each };
struct LearntPartExpr {  // size(table[key]), each(table[key])
    LearntPart part{};
    ExprPtr of;
};
struct NowExpr {  // now(gauge), now(gauge, group)
    std::string gauge;
    Span gauge_span;
    ExprPtr group;  // null: of all groups
};
struct CastExpr {      // (TYPE)expr
    std::string type;  // "struct request *": the words of it, one blank between them
    ExprPtr operand;
};
struct UnaryExpr {
    UnaryOp op{};
    ExprPtr operand;
};
struct BinaryExpr {
    BinaryOp op{};
    ExprPtr left, right;
};
struct ConditionalExpr {
    ExprPtr condition, yes, no;
};
struct MemberExpr {
    ExprPtr object;
    std::string field;
    bool arrow = false;
    Span field_span;
};
struct IndexExpr {  // p[2], and table[key]: which of the two is known only with the prototype
    ExprPtr object, index;
};

struct Expr {
    Span span;
    std::variant<NumberExpr, CharExpr, StringExpr, NameExpr, ArgExpr, StrExpr, FileNameExpr,
                 DemangleExpr, LearntPartExpr, NowExpr, CastExpr, UnaryExpr, BinaryExpr,
                 ConditionalExpr, MemberExpr, IndexExpr>
        node;
};

struct Field {         // NAME "=" expr, or expr, or `args`
    std::string name;  // given, or derived: the text of the expression (`label`, `p->size`)
    ExprPtr value;     // null for `args`
    Span span;
    bool is_args() const { return value == nullptr; }
};

struct SpanClause {
    std::string type;  // "userspace"
    std::vector<Field> fields;
};
struct EventClause {
    std::string type, name;  // memory.alloc; name "" where only a type is given: the function's
    std::vector<Field> fields;
};
// What `count`, `sum` and `hist` have in common.
struct Kept {
    std::vector<Field> by;
    std::optional<std::string> label;
    uint64_t every_ns = 0;  // also read so often, and not only at the end; 0: it is not
};
struct CountClause {
    Kept kept;
};
struct SumClause {
    ExprPtr value;
    ExprPtr over;  // null, or the time that the sum took: `sum bytes over duration`
    Kept kept;
};
struct HistClause {
    ExprPtr value;
    Kept kept;
};
enum class GaugeOp { set, add, sub, release };
struct GaugeClause {
    std::string name;
    ExprPtr key;  // null: a gauge without a key
    GaugeOp op{};
    ExprPtr value;          // of `release`: null
    std::vector<Field> by;  // what its parts are told apart by: at most one
    ExprPtr owner;          // null, or what this goes with: `gauge g of owner = 0` releases it
};
enum class LearnOp {
    set,
    plus,    // t[k] += n
    minus,   // t[k] -= n
    add,     // t[k] add v: one more value; all are kept, with how often
    push,    // t[k] push v: hides what was there
    pop,     // t[k] pop: shows it again
    forget,  // forget t[k]
};
// A table that the tracer fills itself: function_at[address] is the name of the function of the
// process that begins there.
inline constexpr const char* kFunctionAt = "function_at";
struct LearnClause {
    std::string table;
    LearnOp op{};
    ExprPtr key;
    ExprPtr end;    // null, or of t[key : end]: known for all from `key` to before `end`
    ExprPtr value;  // of `pop` and `forget`: null
};
// largest 10 by gap = gap[tid] as "Longest gaps" (until = function)
struct LargestClause {
    uint32_t count = 0;  // how many are kept
    Field by;
    std::string title;
    std::vector<Field> fields;
};
inline constexpr uint32_t kMaxLargest = 1000;  // LargestClause::count
// trace *pfn as symbol: what lies at this address is the function of that name
struct TraceClause {
    ExprPtr address, name;
};
struct StackClause {
    StackKind kind{};
};
struct SampleClause {
    uint32_t one_in = 1;
};

struct Clause {
    Span span;
    std::variant<SpanClause, EventClause, CountClause, SumClause, HistClause, GaugeClause,
                 LearnClause, LargestClause, TraceClause, StackClause, SampleClause>
        node;
};

// cuda:cuMem*   or   "./libx.so":fn
struct FunctionTarget {
    std::string library;  // the NAME of a `library` line, or a path or soname if `quoted`
    bool quoted = false;
    std::string pattern;  // GLOB over function names
    Span library_span, pattern_span;
    std::optional<uint32_t> list;  // index into RuleSet::lists: the pattern is one of that list
};
struct Pattern {  // GLOB
    std::string text;
    Span span;
};
struct KernelTarget {  // kernel:nvidia_*
    Pattern function;
};
struct SyscallTarget {  // syscall:open*
    Pattern name;
};
struct TracepointTarget {  // tracepoint:sched:sched_*
    Pattern category, name;
};
struct UsdtTarget {  // usdt:python3:python:audit
    std::string library;
    bool quoted = false;
    Pattern provider, name;
};
struct DefinedTarget {  // sched:off_cpu, a probe that a template defines
    std::string group;
    Pattern name;
};
struct IntervalTarget {  // interval:100ms
    uint64_t period_ns = 0;
};
struct Target {
    Span span;
    std::variant<FunctionTarget, KernelTarget, SyscallTarget, TracepointTarget, UsdtTarget,
                 DefinedTarget, IntervalTarget>
        node;
};

struct Glob {
    std::string pattern;
    Span span;
    std::optional<uint32_t> list;  // as FunctionTarget::list
};

struct Let {  // let rate = ret * 1s / duration: a name for an expression
    std::string name;
    ExprPtr value;
    Span span;
};

struct Rule {
    uint32_t index = 0;  // position among all rules of the set; later files come later
    bool entry = false, optional = false;
    bool unsaid = false;       // `import optional`: what its libraries lack is not worth a word
    bool all = false;          // of every process, traced or not
    bool until_known = false;  // in place only while it learns something new
    bool again = false;        // of an `each`: what is written once is several rules
    std::vector<Target> targets;
    std::vector<Glob> except;
    std::vector<ExprPtr> where;  // all must hold
    std::vector<Let> lets;       // each may use those before it
    std::vector<Clause> clauses;
    Span span;                                          // the whole rule
    Span head_span;                                     // from `on` to before `{`
    std::string place() const { return span.place(); }  // "cuda.rules:12"
};

struct Library {
    std::string name;
    std::vector<std::string> files;     // sonames, paths or globs, tried in this order
    std::vector<std::string> variants;  // "_v2", "_ptsz"
    // No function of it calls the program back, and no exception leaves one.
    bool no_callbacks = false;
    std::string directory;  // of the rule file: "./libx.so" is relative to it
    Span span;
};

// functions asks = cuCtxGet*, cuDriverGetVersion as "calls that only ask"
struct FunctionList {
    std::string name;
    std::vector<Glob> patterns;
    std::string said;  // of those that `except` leaves out by this list; "": nothing
    Span span;
};

// set launches = cuda:cuLaunchKernel, cuda:cuGraphLaunch
struct TargetSet {
    std::string name;
    std::vector<Target> targets;
    Span span;
};

struct Header {  // header "cuda.h", "types/cuda_driver.h": the first that exists is taken
    std::vector<std::string> files;
    std::string directory;
    Span span;
};

struct Declaration {  // C text that stood in the rule file
    std::string text;
    Span span;
};

struct Cast {  // a type that some `(TYPE)expr` names
    std::string type;
    Span span;
};

// A probe that a template defines (codegen.h reads it).
struct ProbeDefinition {
    std::string group, name;  // "sched", "off_cpu"
    std::string file;         // the template
    bool completes = false;  // it acts when something is over that began before, and has a duration
    struct Program {
        std::string point, function;  // "raw_tracepoint:sched_switch", the C function
    };
    std::vector<Program> programs;
    // What is not over when the trace ends is told for each key of `table` by `tells`; threads that
    // have not run since it began are taken in by `finds`. All are C names; "" where there is none.
    struct GoesOn {
        std::string table, tells, finds;
    } goes_on;
    // "block:block_rq_issue.sector", "task_struct.tgid": offsets that its C text needs.
    std::vector<std::string> offsets;
    std::string fields;         // C: `struct GROUP_NAME { ... }`, and what it needs
    uint32_t line = 0;          // of `fields` in the file
    std::string programs_text;  // C
    uint32_t programs_line = 0;
    std::string structure() const { return group + "_" + name; }
    std::string prototype() const { return "mlbcc_probe_" + structure(); }
};

struct RuleSet {
    std::vector<ProbeDefinition> definitions;
    std::vector<std::unique_ptr<SourceFile>> files;
    std::vector<std::string> identities;  // Loaded::identity of each of `files`
    std::vector<Library> libraries;
    std::vector<FunctionList> lists;
    std::vector<TargetSet> sets;
    std::vector<Header> headers;
    std::vector<Declaration> declarations;
    std::vector<Cast> casts;
    std::vector<Rule> rules;
    bool keep_mangled = false;  // names of C++ as compilers write them
};

// How many rules were written; one with `each` is several.
size_t written_rules(const RuleSet& rules);

// How the parser reads an imported file: a path as written and the folder of the importing file,
// to the path found and its text. Errors name every place that was looked at.
struct LoadedFile {
    std::string path;       // as shown to the user
    std::string identity;   // equal for the same file however it is named (cycle check)
    std::string directory;  // of the file, for what it names relatively
    std::string text;
};
using LoadFile =
    std::function<Result<LoadedFile>(std::string_view name, std::string_view directory)>;

// A rule file is at most this long, bytes.
inline constexpr size_t kMaxRuleFile = size_t{1} << 20;

struct ParseContext {
    std::vector<ProbeDefinition> definitions;  // their groups are kinds of targets
    bool keep_mangled = false;                 // RuleSet::keep_mangled
};

// Parses the files given on the command line, with their imports, each file once. `names` are what
// the user wrote after --rules. A rule may name a library of any of the files. Mistakes go to
// `diagnostics`; parsing goes on behind them.
RuleSet parse(std::span<const std::string> names, const LoadFile& load, Diagnostics& diagnostics,
              ParseContext context = {});
RuleSet parse(std::string_view name, const LoadFile& load, Diagnostics& diagnostics);

// All C text for libclang: each declaration behind `#line`, so that its errors carry the place; and
// for each cast a function named cast_prototype(TYPE) whose one parameter is of that type.
std::string declarations_text(const RuleSet& rules);
inline constexpr const char* kCastPrefix = "mlbcc_cast_";
std::string cast_prototype(std::string_view type);

}  // namespace mlbcc::rules
