// The type checker's inside: one Checker checks expressions of one rule against one prototype.
#pragma once

#include <string>
#include <string_view>

#include "rules/check.h"

namespace mlbcc::rules {

// A place in the traced process's memory, or in a struct that was passed by value.
struct Lvalue {
    TypedPtr pointer;  // null for a struct passed by value
    TypedPtr index;
    uint32_t scale = 0, offset = 0;
    uint32_t param = 0;  // of a struct passed by value
    uint8_t bit_offset = 0, bit_width = 0;
    TypeId type{};
    Stage stage = Stage::entry;
};

inline constexpr const char* kNoMemory =
    "it looks at processes from outside, and not into their memory";

inline std::string quoted(std::string_view text) {
    return "`" + std::string(text) + "`";
}

class Checker {
public:
    Checker(const Scope& scope, Diagnostics& diagnostics)
        : scope_(scope), diagnostics_(diagnostics),
          known_lets_(scope.lets == nullptr ? 0 : scope.lets->size()) {}

    // A value ready to be shown, counted or compared: `const char *` has become text.
    TypedPtr shown(const Expr& expr);
    TypedPtr decay_to_text(TypedPtr value, uint32_t length = 64);
    TypedPtr param(uint32_t index, const Span& span, bool quiet);
    TypedPtr ret(const Span& span, bool quiet);
    TypedPtr whole_param(uint32_t index);  // as `args` shows it; null where it cannot be read

private:
    TypedPtr value(const Expr& expr);  // null after a mistake

    // names (check.cpp)
    TypedPtr name(const NameExpr& node, const Expr& expr);
    TypedPtr param_of(uint32_t index, const Expr& expr);
    TypedPtr list_of(const TypedPtr& param, const Expr& expr);
    const Let* let_of(const std::string& name) const;
    TypedPtr let_value(const Let& let, const Span& used, bool is_shown);
    TypedPtr builtin(Builtin which, const Span& span);
    TypedPtr task(Typed leaf);
    TypedPtr no_stack(const Span& span);
    TypedPtr arg(const ArgExpr& node, const Expr& expr);
    TypedPtr unknown_name(const std::string& name, const Span& span);
    bool is_out_of_reach(const Expr& expr, const char* note);  // with a message
    TypedPtr text_in_place(uint32_t param, uint64_t length, const Span& span);
    TypedPtr not_at_entry(const char* name, const Span& span, bool quiet);
    TypedPtr typed_leaf(Typed leaf, TypeId type, const std::string& what, const Span& span,
                        bool quiet);

    // memory (check_memory.cpp)
    std::optional<Lvalue> lvalue(const Expr& expr);
    std::optional<Lvalue> pointee(const TypedPtr& pointer, const Expr& expr);
    std::optional<Lvalue> array_param(const TypedPtr& value) const;
    std::optional<Lvalue> member(const MemberExpr& node, const Expr& expr);
    std::optional<Lvalue> element(const IndexExpr& node, const Expr& expr);
    std::optional<Lvalue> struct_param(const Expr& expr);
    TypedPtr load(const Lvalue& place, const Expr& expr);
    TypedPtr address(const Lvalue& place, const Span& span);
    bool is_list(const Lvalue& place) const;
    TypedPtr list(const Lvalue& place, const Expr& expr);
    const TextNode* unbounded_text(const Typed& value) const;
    TypedPtr str(const StrExpr& node, const Expr& expr);
    TypedPtr file_name(const FileNameExpr& node, const Expr& expr);
    TypedPtr demangle(const DemangleExpr& node, const Expr& expr);
    TypedPtr learnt(const std::string& table, const Expr& key, const Expr& expr);
    TypedPtr learnt_part(const LearntPartExpr& node, const Expr& expr);
    TypedPtr now(const NowExpr& node, const Expr& expr);
    bool in_kernel(const TypedPtr& operand);  // else says that the kernel cannot follow it
    bool known_here(const Lvalue& place, const Expr& expr);
    Stage read_stage(const TypedPtr& pointer, bool to_const) const;  // when memory is read
    const std::string* table_name(const Expr& object) const;

    // operators (check_ops.cpp)
    TypedPtr cast(const CastExpr& node, const Expr& expr);
    TypedPtr unary(const UnaryExpr& node, const Expr& expr);
    TypedPtr in_python(const UnaryExpr& node, const Expr& expr);
    TypedPtr binary(const BinaryExpr& node, const Expr& expr);
    TypedPtr compare_text(BinaryOp op, TypedPtr left, TypedPtr right, const Expr& expr);
    // starts_with() and its like, and `~` (check_pattern.cpp)
    TypedPtr part_of_text(BinaryOp op, const TypedPtr& left, const TypedPtr& literal,
                          const Expr& expr);
    TypedPtr of_text(BinaryOp op, const TypedPtr& text, std::string literal, const Expr& expr);
    TypedPtr matches(const TypedPtr& text, const std::string& pattern, const Expr& expr);
    TypedPtr pointer_step(BinaryOp op, const TypedPtr& pointer, const TypedPtr& steps,
                          const Expr& expr);
    TypedPtr conditional(const ConditionalExpr& node, const Expr& expr);
    bool numeric(TypedPtr& operand, const char* what);
    bool as_written(const TypedPtr& text, const Expr& expr);

    const CType& type(TypeId id) const { return (*scope_.types)[id]; }
    uint64_t size_of(TypeId id) const;
    TypedPtr fail() const { return nullptr; }

    const Scope& scope_;
    Diagnostics& diagnostics_;
    const Expr* shown_ = nullptr;  // what is shown as a whole: an array is a list there
    size_t known_lets_;            // the first of the rule's
    uint32_t expanded_ = 0;        // names of `let`
};

TypedPtr make(Typed value);
inline Stage later(Stage a, Stage b) {
    return a == Stage::ret || b == Stage::ret ? Stage::ret : Stage::entry;
}
std::string source_text(const Span& span);  // the expression as the user wrote it

}  // namespace mlbcc::rules
