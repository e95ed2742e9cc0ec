// Canonical text of a checked value, for comparing values and for `explain`.
#include <fmt/format.h>

#include "rules/check.h"

namespace mlbcc::rules {
namespace {

const char* builtin_name(Builtin which) {
    switch (which) {
    case Builtin::ret: return "ret";
    case Builtin::duration: return "duration";
    case Builtin::pid: return "pid";
    case Builtin::tid: return "tid";
    case Builtin::ppid: return "ppid";
    case Builtin::comm: return "comm";
    case Builtin::cpu: return "cpu";
    case Builtin::time: return "time";
    case Builtin::function: return "function";
    case Builtin::symbol: return "symbol";
    case Builtin::from_start: return "from_start";
    case Builtin::task: return "task";
    case Builtin::stack: return "stack";
    }
    return "";
}

struct Text {
    std::string operator()(const ParamLeaf& n) const { return fmt::format("%{}", n.index); }
    std::string operator()(const BuiltinLeaf& n) const { return builtin_name(n.which); }
    std::string operator()(const ConstLeaf& n) const { return fmt::format("{}", n.bits); }
    std::string operator()(const TextLeaf& n) const { return fmt::format("\"{}\"", n.text); }
    std::string operator()(const LoadNode& n) const {
        return fmt::format("(load{}{} {} +{} {}.{})", n.size, index(n.index, n.scale),
                           to_text(*n.pointer), n.offset, n.bit_offset, n.bit_width);
    }
    std::string operator()(const AddressNode& n) const {
        return fmt::format("(address{} {} +{})", index(n.index, n.scale), to_text(*n.pointer),
                           n.offset);
    }
    std::string operator()(const StructArgLeaf& n) const {
        return fmt::format("%{}.{}:{}", n.param, n.offset, n.size);
    }
    std::string operator()(const TextNode& n) const {
        return fmt::format("({} {} {})", n.of_file ? "file" : "text", to_text(*n.pointer),
                           n.length);
    }
    std::string operator()(const ListNode& n) const {
        std::string text = "(list";
        for (const TypedPtr& one : n.elements) text += " " + to_text(*one);
        return text + ")";
    }
    std::string operator()(const UnreadLeaf&) const { return "unread"; }
    std::string operator()(const CastNode& n) const {
        return fmt::format("(cast {})", to_text(*n.operand));
    }
    std::string operator()(const LearntNode& n) const {
        std::string as = n.as == LearntAs::shown ? "" : std::to_string(static_cast<int>(n.as));
        return fmt::format("(learnt{} {} {})", as, n.table, to_text(*n.key));
    }
    std::string operator()(const NowNode& n) const {
        return fmt::format("(now {} {})", n.gauge, n.group ? to_text(*n.group) : "");
    }
    std::string operator()(const UnaryNode& n) const {
        return fmt::format("(u{} {})", static_cast<int>(n.op), to_text(*n.operand));
    }
    std::string operator()(const BinaryNode& n) const {
        return fmt::format("(b{} {} {})", static_cast<int>(n.op), to_text(*n.left),
                           to_text(*n.right));
    }
    std::string operator()(const ConditionalNode& n) const {
        return fmt::format("(if {} {} {})", to_text(*n.condition), to_text(*n.yes), to_text(*n.no));
    }
    static std::string index(const TypedPtr& value, uint32_t scale) {
        return value ? fmt::format("[{}*{}]", to_text(*value), scale) : "";
    }
};

}  // namespace

std::string to_text(const Typed& value) {
    std::string text = fmt::format("{}:{}{}", std::visit(Text{}, value.node),
                                   static_cast<int>(value.show), value.size);
    // The same number may be meant as a constant of one enum and of another.
    if (value.demangle) text += "m";
    bool cast = std::holds_alternative<CastNode>(value.node);
    return cast && value.type ? text + fmt::format("t{}", static_cast<uint32_t>(*value.type))
                              : text;
}

}  // namespace mlbcc::rules
