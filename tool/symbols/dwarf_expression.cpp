#include <dwarf.h>

#include "symbols/unwind.h"

namespace mlbcc::symbols {
namespace {

// The stack machine. A failed operation leaves `failed` set and the rest without meaning.
class Machine {
public:
    Machine(const Registers& regs, std::optional<uint64_t> cfa, const StackMemory& memory)
        : regs_(regs), cfa_(cfa), memory_(memory) {}

    bool run(const Dwarf_Op& op) {
        uint8_t atom = op.atom;
        if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) return push(atom - uint64_t{DW_OP_lit0});
        if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
            return push_reg(atom - DW_OP_breg0, op.number);
        if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) return set_value(atom - DW_OP_reg0);
        return run_named(op) || run_binary(atom);
    }
    std::optional<uint64_t> result() const {
        if (stack_.empty()) return std::nullopt;
        return is_value_ ? std::optional(stack_.back()) : memory_.word(stack_.back());
    }
    std::optional<uint64_t> top() const {
        return stack_.empty() ? std::nullopt : std::optional(stack_.back());
    }

private:
    bool push(uint64_t value) {
        stack_.push_back(value);
        return stack_.size() < kMaxDepth;
    }
    bool push(std::optional<uint64_t> value) { return value && push(*value); }
    bool push_reg(uint64_t reg, uint64_t offset) {
        auto value = regs_.get(reg);
        return value && push(*value + offset);
    }
    bool set_value(uint64_t reg) {
        is_value_ = true;
        return push_reg(reg, 0);
    }
    std::optional<uint64_t> pop() {
        auto value = top();
        if (value) stack_.pop_back();
        return value;
    }

    bool run_named(const Dwarf_Op& op) {
        switch (op.atom) {
        case DW_OP_call_frame_cfa: return push(cfa_);
        case DW_OP_bregx: return push_reg(op.number, op.number2);
        case DW_OP_regx: return set_value(op.number);
        case DW_OP_stack_value: return is_value_ = true;
        case DW_OP_const1u:
        case DW_OP_const2u:
        case DW_OP_const4u:
        case DW_OP_const8u:
        case DW_OP_const1s:
        case DW_OP_const2s:
        case DW_OP_const4s:
        case DW_OP_const8s:
        case DW_OP_constu:
        case DW_OP_consts:
        case DW_OP_addr: return push(op.number);
        case DW_OP_nop: return true;
        case DW_OP_dup: return push(top());
        case DW_OP_drop: return pop().has_value();
        case DW_OP_deref: {
            auto address = pop();
            return address && push(memory_.word(*address));
        }
        case DW_OP_plus_uconst: {
            auto value = pop();
            return value && push(*value + op.number);
        }
        case DW_OP_neg: {
            auto value = pop();
            return value && push(-*value);
        }
        case DW_OP_not: {
            auto value = pop();
            return value && push(~*value);
        }
        default: return false;
        }
    }

    bool run_binary(uint8_t atom) {
        if (stack_.size() < 2) return false;
        uint64_t b = *pop(), a = *pop();
        auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
        switch (atom) {
        case DW_OP_plus: return push(a + b);
        case DW_OP_minus: return push(a - b);
        case DW_OP_mul: return push(a * b);
        case DW_OP_and: return push(a & b);
        case DW_OP_or: return push(a | b);
        case DW_OP_xor: return push(a ^ b);
        case DW_OP_shl: return push(b < 64 ? a << b : 0);
        case DW_OP_shr: return push(b < 64 ? a >> b : 0);
        case DW_OP_eq: return push(uint64_t{a == b});
        case DW_OP_ne: return push(uint64_t{a != b});
        case DW_OP_lt: return push(uint64_t{sa < sb});
        case DW_OP_le: return push(uint64_t{sa <= sb});
        case DW_OP_gt: return push(uint64_t{sa > sb});
        case DW_OP_ge: return push(uint64_t{sa >= sb});
        default: return false;
        }
    }

    static constexpr size_t kMaxDepth = 64;
    const Registers& regs_;
    std::optional<uint64_t> cfa_;
    const StackMemory& memory_;
    std::vector<uint64_t> stack_;
    bool is_value_ = false;
};

}  // namespace

// Without a CFA the expression is the CFA's own, a value; with one it is a register's place, unless
// it says that it is its value.
std::optional<uint64_t> evaluate(std::span<const Dwarf_Op> expression, const Registers& regs,
                                 std::optional<uint64_t> cfa, const StackMemory& memory) {
    Machine machine(regs, cfa, memory);
    for (const Dwarf_Op& op : expression) {
        if (!machine.run(op)) return std::nullopt;
    }
    return cfa ? machine.result() : machine.top();
}

}  // namespace mlbcc::symbols
