// Expressions with types: what a rule's names mean for one function's prototype, at which end of
// the call each value is known, and the mistakes that show only there. The tree that codegen writes
// as C.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rules/rules.h"
#include "rules/types.h"
#include "text/diagnostic.h"

namespace mlbcc::rules {

enum class Stage { entry, ret };  // `ret`: known only when the call returns

enum class Builtin {
    ret,
    duration,
    pid,
    tid,
    ppid,
    comm,
    cpu,
    time,
    function,
    symbol,
    from_start,  // whether the trace saw this process's program begin: the tracer knows
    task,        // the address of the running thread's `struct task_struct`
    stack,       // the functions that the rule's stack has, behind `by`
};

struct Typed;
using TypedPtr = std::shared_ptr<const Typed>;  // shared by the clauses that use the same value

inline constexpr uint32_t kMaxArg = 15;  // of `arg(N)`

struct ParamLeaf {  // the value of a parameter; `arg(N)` has no type
    uint32_t index = 0;
};
struct BuiltinLeaf {
    Builtin which{};
};
struct ConstLeaf {
    uint64_t bits = 0;
    Unit unit = Unit::none;
};
struct TextLeaf {  // a string literal
    std::string text;
};
struct LoadNode {  // memory of the traced process: *p, p->f, p[2], s.f of a struct behind a pointer
    TypedPtr pointer;     // address
    TypedPtr index;       // null, or scaled by `scale` and added
    uint32_t scale = 0;   // bytes
    uint32_t offset = 0;  // bytes, added
    uint8_t size = 8;     // bytes read: 1, 2, 4, 8
    uint8_t bit_offset = 0, bit_width = 0;
};
struct AddressNode {  // the address a LoadNode would read: arrays, structs, & of an lvalue
    TypedPtr pointer, index;
    uint32_t scale = 0, offset = 0;
};
struct StructArgLeaf {  // a field of a small struct passed by value
    uint32_t param = 0;
    uint32_t offset = 0;  // bytes within the struct
    uint8_t size = 4;
};
struct TextNode {  // text behind a pointer, read at `stage`
    TypedPtr pointer;
    uint32_t length = 64;  // bytes, with the terminating zero
    bool of_file = false;  // `pointer` is a descriptor, and the text the name of its file
};
struct ListNode {  // the elements of an array, shown together
    std::vector<TypedPtr> elements;
};
struct UnreadLeaf {};  // a parameter that no probe can read, among all
struct CastNode {      // as the Typed's own type
    TypedPtr operand;
};
// table[key]: the key is recorded, the tracer looks it up. `shown`: as it was learnt, or the key
// itself where nothing was; number and text: an operand, 0 or "" where nothing was.
enum class LearntAs { shown, number, text, size, each };
struct LearntNode {
    std::string table;
    TypedPtr key;
    LearntAs as{};
};
struct NowNode {  // what a gauge of this process is now
    std::string gauge;
    TypedPtr group;  // null: all groups together
};
struct UnaryNode {
    UnaryOp op{};
    TypedPtr operand;
};
struct BinaryNode {
    BinaryOp op{};
    TypedPtr left, right;
};
struct ConditionalNode {
    TypedPtr condition, yes, no;
};

// How a value is computed and shown.
enum class Show {
    signed_int,
    unsigned_int,
    hex,
    boolean,
    enumeration,
    text,
    character,
    comm,
    function,
    symbol,
    floating,  // of `size` 4 or 8 bytes, in memory: shown, not computed with
    list       // of the elements, each as it is shown by itself
};

struct Typed {
    std::variant<ParamLeaf, BuiltinLeaf, ConstLeaf, TextLeaf, LoadNode, AddressNode, StructArgLeaf,
                 TextNode, ListNode, UnreadLeaf, CastNode, LearntNode, NowNode, UnaryNode,
                 BinaryNode, ConditionalNode>
        node;
    std::optional<TypeId> type;  // C type, where there is one
    Stage stage = Stage::entry;
    Show show = Show::unsigned_int;
    uint8_t size = 8;  // significant bytes
    Unit unit = Unit::none;
    bool hex_unnamed = false;  // an enumeration: numbers without a name are hexadecimal
    bool in_tracer = false;    // the tracer computes it: some operand is learnt, or a gauge
    bool demangle = false;     // text that is shown as people write it
    Span span;
    bool is_text() const {
        return show == Show::text || show == Show::comm || show == Show::function ||
               show == Show::symbol;
    }
};

struct Scope {
    const TypeTable* types = nullptr;
    const Signature* signature = nullptr;              // null: no prototype
    const std::vector<std::string>* tables = nullptr;  // names that some rule learns
    const std::vector<std::string>* gauges = nullptr;  // of all rules
    std::string function, symbol;                      // base name and form
    bool entry_rule = false;                           // `on entry`: return values are errors
    bool momentary = false;                            // the probe is a moment, not a call
    bool keep_mangled = false;                         // RuleSet::keep_mangled
    bool from_outside = false;  // the tracer looks at a process: no arguments, no memory
    bool foreign = false;       // the thread that runs may be another than the one it is about
    const std::vector<Let>* lets = nullptr;  // of the rule; null: none
    bool has_stack = false;                  // `stack` may stand here, and the rule takes one
    bool lists = false;                      // an array is a list of its elements, not its address
};

// Null after a mistake, which is in `diagnostics`.
TypedPtr check(const Expr& expr, const Scope& scope, Diagnostics& diagnostics);

// Canonical text of a value: equal texts compute the same value. "(add %0 8)", "(load4 %1 +16)"
std::string to_text(const Typed& value);

// The conjuncts of a condition: `a && b` is two, each decided as early as it can be.
std::vector<TypedPtr> conjuncts(const TypedPtr& condition);

// The same look-up for another use.
TypedPtr learnt_as(const TypedPtr& value, LearntAs as);

// A name that stands for a key: recorded and grouped by as the key is.
bool is_name_of_key(const Typed& value);
// Whether a value is computed with as a signed number of 64 bits: all that fits, as in
// check_ops.cpp.
bool is_signed(const Typed& value, const TypeTable& types);
// Whether its bytes, where they are fewer than 8, are to be sign-extended.
bool may_be_negative(const Typed& value, const TypeTable& types);

// The kernel's memory, reached from `task`: as it is when it is read, at either end of a call.
bool is_of_task(const Typed& value);
bool is_of_text(BinaryOp op);  // starts_with() and its like, and `~`
// Whether text stands so to a literal, by one of these, `==` or `!=`.
bool text_holds(BinaryOp op, std::string_view text, std::string_view literal);

// Available at both ends of a call, so never carried from one to the other.
bool always_known(const Typed& value);

// The value of parameter `index` as `args` shows it; unread where a probe cannot read it (floating
// point, struct by value).
TypedPtr check_param(uint32_t index, const Scope& scope);
// The function's return value; null for void and for what a probe cannot read.
TypedPtr check_ret(const Scope& scope);

// Calls `visit` on each direct operand.
template <class Visit> void for_each_operand(const Typed& value, Visit visit) {
    struct Walk {
        Visit& visit;
        void operator()(const ParamLeaf&) {}
        void operator()(const BuiltinLeaf&) {}
        void operator()(const ConstLeaf&) {}
        void operator()(const TextLeaf&) {}
        void operator()(const StructArgLeaf&) {}
        void operator()(const LoadNode& n) {
            visit(n.pointer);
            if (n.index) visit(n.index);
        }
        void operator()(const AddressNode& n) {
            visit(n.pointer);
            if (n.index) visit(n.index);
        }
        void operator()(const TextNode& n) { visit(n.pointer); }
        void operator()(const ListNode& n) {
            for (const TypedPtr& one : n.elements) visit(one);
        }
        void operator()(const UnreadLeaf&) {}
        void operator()(const CastNode& n) { visit(n.operand); }
        void operator()(const LearntNode& n) { visit(n.key); }
        void operator()(const NowNode& n) {
            if (n.group) visit(n.group);
        }
        void operator()(const UnaryNode& n) { visit(n.operand); }
        void operator()(const BinaryNode& n) {
            visit(n.left);
            visit(n.right);
        }
        void operator()(const ConditionalNode& n) {
            visit(n.condition);
            visit(n.yes);
            visit(n.no);
        }
    };
    std::visit(Walk{visit}, value.node);
}

// Whether `test` holds of the value or of any part of it, at any depth.
template <class Test> bool any_part(const Typed& value, const Test& test) {
    bool found = test(value);
    for_each_operand(value, [&](const TypedPtr& part) { found = found || any_part(*part, test); });
    return found;
}

}  // namespace mlbcc::rules
