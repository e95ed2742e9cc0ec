// Checked expressions as C. All arithmetic is in 64 bits; a division by zero gives 0, as BPF's
// does.
#include <fmt/format.h>

#include "codegen/rooms.h"
#include "codegen/writer.h"

namespace mlbcc::codegen {
namespace {

using rules::BinaryOp;
using rules::Show;
using rules::Typed;

bool is_signed(const Typed& value, const plan::Plan& plan) {
    return rules::is_signed(value, *plan.types);
}

const char* symbol(BinaryOp op) {
    switch (op) {
    case BinaryOp::mul: return "*";
    case BinaryOp::div: return "/";
    case BinaryOp::mod: return "%";
    case BinaryOp::add: return "+";
    case BinaryOp::sub: return "-";
    case BinaryOp::shl: return "<<";
    case BinaryOp::shr: return ">>";
    case BinaryOp::lt: return "<";
    case BinaryOp::le: return "<=";
    case BinaryOp::gt: return ">";
    case BinaryOp::ge: return ">=";
    case BinaryOp::eq: return "==";
    case BinaryOp::ne: return "!=";
    case BinaryOp::bit_and: return "&";
    case BinaryOp::bit_xor: return "^";
    case BinaryOp::bit_or: return "|";
    case BinaryOp::logical_and: return "&&";
    case BinaryOp::logical_or: return "||";
    case BinaryOp::starts_with:
    case BinaryOp::ends_with:  // Writer::text_equals
    case BinaryOp::contains:
    case BinaryOp::matches: break;  // the tracer's
    }
    return "";
}

std::string c_string(const std::string& text) {
    std::string out = "\"";
    for (char c : text) out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    return out + "\"";
}

// Not 0 where the first `count` bytes of the text are not those of the literal and zeros. Without a
// branch: the verifier would follow each, in all combinations with those of other conditions.
std::string different_words(const std::string& name, std::string_view literal, size_t count) {
    std::string all;
    for (size_t at = 0; at < count; at += 8) {
        uint64_t wanted = 0, mask = 0;
        for (size_t i = at; i < std::min(count, at + 8); ++i) {
            const uint64_t c = i < literal.size() ? static_cast<unsigned char>(literal[i]) : 0;
            wanted |= c << 8 * (i - at);
            mask |= uint64_t{0xff} << 8 * (i - at);
        }
        const std::string word = fmt::format("((mlbcc_word *){})[{}]", name, at / 8);
        all += fmt::format("{}({} ^ {:#x}ULL)", at == 0 ? "" : " | ",
                           mask == ~uint64_t{0} ? word : fmt::format("({} & {:#x}ULL)", word, mask),
                           wanted);
    }
    return all;
}

}  // namespace

std::string converted(const std::string& expr, const Typed& value, const plan::Plan& plan) {
    if (value.show == Show::boolean && value.size == 1) {
        return fmt::format("(s64)((u8)({}) != 0)", expr);
    }
    const char* type = is_signed(value, plan) ? "s64" : "u64";
    if (value.size == 8) return fmt::format("({})({})", type, expr);
    char sign = rules::may_be_negative(value, *plan.types) ? 's' : 'u';
    return fmt::format("({})({}{})({})", type, sign, value.size * 8, expr);
}

struct NumberVisitor {
    CodeWriter& w;
    const Typed& value;

    std::string operator()(const rules::ParamLeaf& n) {
        return converted(w.argument(n.index, 0), value, w.plan_);
    }
    std::string operator()(const rules::BuiltinLeaf& n) {
        switch (n.which) {
        case rules::Builtin::ret: return converted(w.return_value(), value, w.plan_);
        case rules::Builtin::duration: return "(call.now - call.start)";
        case rules::Builtin::pid: return "(s64)call.id.pid";
        case rules::Builtin::tid: return "(s64)call.id.tid";
        case rules::Builtin::ppid: return "(s64)mlbcc_ppid(&call)";
        case rules::Builtin::cpu: return "(s64)bpf_get_smp_processor_id()";
        case rules::Builtin::time: return "call.now";
        case rules::Builtin::task: return "bpf_get_current_task()";
        case rules::Builtin::function:
        case rules::Builtin::symbol: return "(u64)call.probe";
        case rules::Builtin::stack:
        case rules::Builtin::from_start:
        case rules::Builtin::comm: break;
        }
        MLBCC_UNREACHABLE();
    }
    std::string operator()(const rules::ConstLeaf& n) {
        bool negative = value.show == Show::signed_int || value.show == Show::enumeration ||
                        value.show == Show::boolean;
        // The smallest value cannot be written as a literal with a sign.
        if (!negative) return fmt::format("{}ULL", n.bits);
        return fmt::format("(s64){}ULL", n.bits);
    }
    std::string operator()(const rules::TextLeaf&) { MLBCC_UNREACHABLE(); }
    std::string operator()(const rules::TextNode&) { MLBCC_UNREACHABLE(); }
    std::string operator()(const rules::ListNode&) { MLBCC_UNREACHABLE(); }
    std::string operator()(const rules::UnreadLeaf&) { MLBCC_UNREACHABLE(); }
    std::string operator()(const rules::LoadNode& n) { return w.load(n, value); }
    std::string operator()(const rules::AddressNode& n) {
        return w.address(n.pointer, n.index, n.scale, n.offset);
    }
    std::string operator()(const rules::StructArgLeaf& n) {
        std::string word = w.argument(n.param, n.offset / 8);
        return converted(fmt::format("{} >> {}", word, n.offset % 8 * 8), value, w.plan_);
    }
    std::string operator()(const rules::CastNode& n) {
        return converted(w.number(*n.operand), value, w.plan_);
    }
    std::string operator()(const rules::LearntNode& n) { return w.number(*n.key); }
    std::string operator()(const rules::NowNode&) { MLBCC_UNREACHABLE(); }
    std::string operator()(const rules::UnaryNode& n) {
        std::string operand = w.number(*n.operand);
        switch (n.op) {
        case rules::UnaryOp::minus: return fmt::format("(s64)(-({}))", operand);
        case rules::UnaryOp::plus: return operand;
        case rules::UnaryOp::bit_not: return fmt::format("(~({}))", operand);
        case rules::UnaryOp::logical_not: return fmt::format("(s64)(!({}))", operand);
        case rules::UnaryOp::in_python:
            return fmt::format("mlbcc_in_python(&call.id, {})", operand);
        case rules::UnaryOp::deref:
        case rules::UnaryOp::address: break;  // checked into LoadNode, AddressNode
        }
        MLBCC_UNREACHABLE();
    }
    std::string operator()(const rules::BinaryNode& n) {
        if (n.left->is_text()) return w.text_equals(n);
        std::string left = w.number(*n.left), right = w.number(*n.right);
        if (n.op == BinaryOp::div || n.op == BinaryOp::mod) {
            const char* call = is_signed(*n.left, w.plan_) && is_signed(*n.right, w.plan_)
                                   ? "mlbcc_signed"
                                   : "mlbcc_unsigned";
            return fmt::format("{}_{}({}, {})", call, n.op == BinaryOp::div ? "div" : "mod", left,
                               right);
        }
        if (n.op == BinaryOp::shl || n.op == BinaryOp::shr) {
            return fmt::format("(({}) {} (({}) & 63))", left, symbol(n.op), right);
        }
        const char* cast = value.show == Show::boolean ? "(s64)" : "";
        return fmt::format("{}(({}) {} ({}))", cast, left, symbol(n.op), right);
    }
    std::string operator()(const rules::ConditionalNode& n) {
        return fmt::format("(({}) ? ({}) : ({}))", w.number(*n.condition), w.number(*n.yes),
                           w.number(*n.no));
    }
};

std::string CodeWriter::number(const Typed& value) {
    std::string text = rules::to_text(value);
    if (auto found = known_.find(text); found != known_.end()) return found->second;
    if (const plan::Saved* kept = saved(value)) return known_[text] = saved_number(*kept);
    std::string expr = std::visit(NumberVisitor{*this, value}, value.node);
    // Large expressions are computed once; a name keeps the C readable, too.
    bool simple = std::holds_alternative<rules::ConstLeaf>(value.node) || expr.size() < 40;
    if (!simple) {
        std::string name = temporary();
        line(fmt::format("{} {} = {};", is_signed(value, plan_) ? "s64" : "u64", name, expr));
        expr = name;
    }
    return known_[text] = expr;
}

std::string CodeWriter::raw(const Typed& value) {
    const auto* leaf = std::get_if<rules::ParamLeaf>(&value.node);
    return leaf == nullptr ? number(value) : argument(leaf->index, 0);
}

std::string CodeWriter::condition(const Typed& value) {
    return fmt::format("({})", number(value));
}

std::string CodeWriter::return_value() const {
    return probe_.kind == plan::ProbeKind::syscall ? "mlbcc_syscall_result(at)"
                                                   : "MLBCC_RETURN_VALUE(ctx)";
}

// Of a system call that a filter answered it is not known how long it took.
bool CodeWriter::is_unsure_duration(const Typed& value) const {
    const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value.node);
    return leaf != nullptr && leaf->which == rules::Builtin::duration &&
           probe_.kind == plan::ProbeKind::syscall;
}

std::string CodeWriter::failed(const Typed& value) const {
    if (const plan::Saved* kept = saved(value)) {
        bool checked = !std::holds_alternative<rules::TextNode>(kept->value->node);
        return checked ? fmt::format("(frame->unread >> {} & 1)", unread_bit(*kept)) : "";
    }
    std::string all;
    if (is_unsure_duration(value)) all = "(call.now == call.start)";
    if (auto known = known_.find("failed " + rules::to_text(value)); known != known_.end()) {
        all = known->second;
    }
    rules::for_each_operand(value, [&](const rules::TypedPtr& part) {
        std::string one = failed(*part);
        if (!one.empty()) all += (all.empty() ? "" : " | ") + one;
    });
    return all;
}

// Text == "abc" up to and with the terminating zero; starts_with(text, "abc") without.
std::string CodeWriter::text_equals(const rules::BinaryNode& node) {
    const std::string& literal = std::get<rules::TextLeaf>(node.right->node).text;
    const uint32_t size = compared_bytes(node);
    if (node.op == BinaryOp::ends_with) return text_ends(*node.left, size, literal);
    const bool in_room = size > kMaxTextOnStack;
    const std::string name =
        in_room ? text_in_room(*node.left, size) : compared_text(*node.left, size);
    const size_t compared =
        std::min<size_t>(size, literal.size() + (node.op == BinaryOp::starts_with ? 0 : 1));
    if (compared == 0) return "(s64)1";
    const std::string equal = fmt::format("(({}) {} 0)", different_words(name, literal, compared),
                                          node.op == BinaryOp::ne ? "!=" : "==");
    if (!in_room) return fmt::format("(s64)({})", equal);
    std::string result = temporary();  // the next one takes the room
    line(fmt::format("s64 {} = {} && {};", result, name, equal));
    return result;
}

// False where the text is cut off: its end is not known then.
std::string CodeWriter::text_ends(const Typed& text, uint32_t size, const std::string& literal) {
    if (literal.empty()) return "(s64)1";
    if (literal.size() + 2 > size) return "(s64)0";
    const std::string name = text_in_room(text, size), at = temporary();
    std::string result = temporary();
    line(fmt::format("s64 {} = 0;", result));
    open_block(fmt::format("if ({}) {{", name));
    // To itself: for how long it is.
    line(fmt::format("u64 {0} = (u64)bpf_probe_read_kernel_str({1}, {2}, {1}) - {3};", at, name,
                     size, literal.size() + 1));
    line(fmt::format("MLBCC_SEEN({});", at));
    line(fmt::format("if ({} <= {}) {} = ({}) == 0;", at, size - 2 - literal.size(), result,
                     different_words(fmt::format("({} + {})", name, at), literal, literal.size())));
    close_block();
    return result;
}

std::string CodeWriter::room() {
    if (has_thread_) return fmt::format("(void *)thread->rooms[{}]", room_of(plan_, probe_));
    const std::string thread = temporary();
    line(fmt::format("struct thread_state *{} = mlbcc_find_thread(&call) ? call.thread : 0;",
                     thread));
    return fmt::format("({0} ? (void *){0}->rooms[{1}] : 0)", thread, room_of(plan_, probe_));
}

std::string CodeWriter::text_in_room(const Typed& value, uint32_t size) {
    const std::string at = room();
    std::string name = temporary();
    line(fmt::format("char *{} = {};", name, at));
    open_block(fmt::format("if ({}) {{", name));
    text_to(name, size, value);
    close_block();
    return name;
}

// Read once, however many texts it is compared with.
std::string CodeWriter::compared_text(const Typed& value, uint32_t size) {
    const std::string key = fmt::format("text {} {}", size, rules::to_text(value));
    if (auto found = known_.find(key); found != known_.end()) return found->second;
    std::string name = temporary();
    line(fmt::format("char {}[{}] __attribute__((aligned(8))) = {{}};", name, size));
    text_to(name, size, value);
    return known_[key] = name;
}

void CodeWriter::text_to(const std::string& to, uint32_t size, const Typed& value) {
    uint32_t written = 0;
    if (const plan::Saved* kept = saved(value)) {
        written = std::min(size, kept->size);
        line(fmt::format("__builtin_memcpy({}, &MLBCC_SAVED(u64, {}), {});", to, kept->offset,
                         written));
    } else if (const auto* text = std::get_if<rules::TextNode>(&value.node)) {
        written = std::min(size, text->length);
        line(fmt::format("{}({}, {}, {});", read_text(*text), to, written, number(*text->pointer)));
    } else if (const auto* literal = std::get_if<rules::TextLeaf>(&value.node)) {
        written = static_cast<uint32_t>(literal->text.size()) + 1;
        line(fmt::format("__builtin_memcpy({}, {}, {});", to, c_string(literal->text), written));
    } else {
        written = 16;
        bool foreign = probe_.kind == plan::ProbeKind::defined;
        line(foreign ? fmt::format("mlbcc_comm_of(call.id.thread, {});", to)
                     : fmt::format("bpf_get_current_comm({}, 16);", to));
    }
    if (written < size) {
        line(fmt::format("__builtin_memset({} + {}, 0, {});", to, written, size - written));
    }
}

void CodeWriter::store(const std::string& to, uint32_t size, const Typed& value, bool as_raw) {
    place(value.span);
    bool text = value.show == Show::text || value.show == Show::comm;
    if (text && !std::holds_alternative<rules::LearntNode>(value.node)) {
        text_to(to, size, value);
    } else {
        line(fmt::format("{} = {};", to, as_raw ? raw(value) : number(value)));
    }
}

const plan::Saved* CodeWriter::saved(const Typed& value) const {
    if (stage_ == rules::Stage::entry) return nullptr;
    std::string text = rules::to_text(value);
    for (const plan::Saved& one : probe_.saved) {
        if (rules::to_text(*one.value) == text) return &one;
    }
    return nullptr;
}

uint32_t CodeWriter::unread_bit(const plan::Saved& kept) const {
    return static_cast<uint32_t>(&kept - probe_.saved.data()) & 63;
}

std::string CodeWriter::saved_number(const plan::Saved& kept) {
    std::string slot = fmt::format("MLBCC_SAVED(u64, {})", kept.offset);
    return converted(slot, *kept.value, plan_);
}

void CodeWriter::line(std::string_view text) {
    body_.append(fmt::format("{:{}}{}\n", "", 4 + 4 * outside_.size(), text));
}

void CodeWriter::open_block(std::string_view head) {
    line(head);
    outside_.push_back({known_, together_, body_.origin()});
}

void CodeWriter::close_block() {
    known_ = std::move(outside_.back().known);
    together_ = std::move(outside_.back().together);
    body_.from(std::move(outside_.back().origin), false);
    outside_.pop_back();
    line("}");
}

void CodeWriter::place(const Span& span) {
    if (span.file == nullptr) return;
    part({span});
    body_.append(
        fmt::format("#line {} \"{}\"\n", span.file->position(span.begin).line, span.file->path()));
}

void CodeWriter::part(std::vector<Span> rules, bool is_begin) {
    body_.from({std::move(rules), {}, 0}, is_begin);
}

}  // namespace mlbcc::codegen
