// Where values come from: registers, the stack, a tracepoint's record, memory behind pointers.
#include <algorithm>
#include <cstdint>
#include <set>

#include <fmt/format.h>

#include "codegen/values.h"
#include "codegen/writer.h"

namespace mlbcc::codegen {

using rules::Show;
using rules::Typed;

// Text is an address, any other field its value.
std::string CodeWriter::trace_field(const target::TraceField& field) {
    std::string place = fmt::format("(u8 *)ctx + {}", field.offset);
    if (field.type.starts_with("__data_loc")) {
        return fmt::format("((u64)((u8 *)ctx + (*(u32 *)({}) & 0xffff)))", place);
    }
    if (field.type.ends_with(']')) return fmt::format("((u64)({}))", place);
    // Of two fields in the two branches of a `?:` clang would make one, at a place that is
    // computed.
    return fmt::format("({{ u64 field_ = (u64)*({}{} *)({}); asm volatile(\"\" : \"+r\"(field_)); "
                       "field_; }})",
                       field.is_signed ? 's' : 'u', field.size * 8, place);
}

std::string CodeWriter::defined_field(uint32_t param) const {
    if (param >= probe_.signature->params.size()) return "0ULL";
    return fmt::format("((u64)fields->{})", probe_.signature->params[param].name);
}

namespace {

// rdx -> ctx->dx, r12 -> ctx->r12, x3 -> ctx->regs[3]
std::string usdt_register(plan::Arch arch, const std::string& name) {
    if (arch == plan::Arch::arm64) {
        bool special = name == "sp" || name == "pc";
        return special ? "(u64)ctx->" + name : fmt::format("(u64)ctx->regs[{}]", name.substr(1));
    }
    if (name == "pc") return "(u64)ctx->ip";
    bool numbered = name.size() > 1 && name[1] >= '0' && name[1] <= '9';
    return "(u64)ctx->" + name.substr(numbered ? 0 : 1);
}

}  // namespace

// An argument of a probe that a program brings along, where its note says that it is.
std::string CodeWriter::usdt_argument(uint32_t param) {
    struct Visitor {
        CodeWriter& w;
        const target::UsdtArgument& argument;
        uint32_t param;
        std::string operator()(const target::UsdtUnknown&) { return "0ULL"; }
        std::string operator()(const target::UsdtConstant& one) {
            return fmt::format("{}ULL", static_cast<uint64_t>(one.value));
        }
        std::string operator()(const target::UsdtRegister& one) {
            return usdt_register(w.plan_.arch, one.name);
        }
        std::string operator()(const target::UsdtMemory& one) {
            std::string key = fmt::format("usdt {}", param);
            if (auto found = w.known_.find(key); found != w.known_.end()) return found->second;
            std::string from = fmt::format("{}ULL", static_cast<uint64_t>(one.displacement));
            if (!one.base.empty()) from += " + " + usdt_register(w.plan_.arch, one.base);
            if (!one.index.empty()) {
                from +=
                    fmt::format(" + {} * {}", usdt_register(w.plan_.arch, one.index), one.scale);
            }
            std::string name = w.temporary();
            w.line(fmt::format("u{1} {0} = 0; bpf_probe_read_user(&{0}, {2}, (void *)({3}));", name,
                               argument.size * 8, argument.size, from));
            return w.known_[key] = "(u64)" + name;
        }
    };
    const auto& all = std::get<target::Usdt>(probe_.probe->at).probe.arguments;
    if (param >= all.size()) return "0ULL";
    return std::visit(Visitor{*this, all[param], param}, all[param].place);
}

std::string CodeWriter::argument(uint32_t param, uint32_t word) {
    if (const auto* point = std::get_if<target::Tracepoint>(&probe_.probe->at)) {
        return param < point->fields.size() ? trace_field(point->fields[param]) : "0ULL";
    }
    if (probe_.kind == plan::ProbeKind::defined) return defined_field(param);
    if (probe_.kind == plan::ProbeKind::usdt) return usdt_argument(param);
    plan::ArgSlot slot = plan::locate_argument(param, plan_.arch);
    if (param < probe_.slots.size()) {
        const auto& words = probe_.slots[param];
        slot = word < words.size() ? words[word] : plan::ArgSlot{};
    }
    std::string register_value =
        fmt::format("MLBCC_{}ARG{}(ctx)", probe_.is_of_go() ? "GO_" : "", slot.index);
    bool kept = plan::is_function(probe_.kind);  // of a system call they are still there
    if (stage_ == rules::Stage::ret && kept) {
        register_value =
            fmt::format("MLBCC_SAVED(u64, {})", 8 * plan::word_index(slot, plan_.arch));
    }
    switch (slot.kind) {
    case plan::ArgSlot::Kind::none: return "0ULL";
    case plan::ArgSlot::Kind::reg: return register_value;
    case plan::ArgSlot::Kind::stack:
        if (stage_ == rules::Stage::ret) return register_value;
        return stack_word(slot.index);
    case plan::ArgSlot::Kind::pointer:
        return read_word(slot, word, fmt::format("{} + {}", register_value, word * 8));
    case plan::ArgSlot::Kind::stack_pointer:
        if (stage_ != rules::Stage::ret) register_value = stack_word(slot.index);
        return read_word(slot, word, fmt::format("{} + {}", register_value, word * 8));
    }
    return "";
}

std::string CodeWriter::stack_word(uint32_t index) {
    return read_word({plan::ArgSlot::Kind::stack, index}, 0,
                     fmt::format("MLBCC_STACK_ARG(ctx, {})", index));
}

std::string CodeWriter::read_word(const plan::ArgSlot& slot, uint32_t word,
                                  const std::string& from) {
    std::string key = fmt::format("word {} {}", plan::to_text(slot), word);
    if (auto found = known_.find(key); found != known_.end()) return found->second;
    std::string name = temporary();
    line(fmt::format("u64 {0} = 0; {2}(&{0}, 8, (void *)({1}));", name, from, stack_reader()));
    return known_[key] = name;
}

// Arguments on the stack, and copies of structs that a caller in the same address space has made.
const char* CodeWriter::stack_reader() const {
    return probe_.kind == plan::ProbeKind::kernel ? "bpf_probe_read_kernel" : "bpf_probe_read_user";
}

// One read for all of a call's arguments on the stack.
void CodeWriter::read_stack_arguments(const std::vector<rules::TypedPtr>& values) {
    if (stage_ != rules::Stage::entry) return;
    std::set<uint32_t> words;
    const auto collect = [&](const Typed& part) {
        const auto* leaf = std::get_if<rules::ParamLeaf>(&part.node);
        if (leaf == nullptr || leaf->index >= probe_.slots.size()) return false;
        for (const plan::ArgSlot& slot : probe_.slots[leaf->index]) {
            bool on_stack = slot.kind == plan::ArgSlot::Kind::stack ||
                            slot.kind == plan::ArgSlot::Kind::stack_pointer;
            if (on_stack) words.insert(slot.index);
        }
        return false;
    };
    for (const rules::TypedPtr& value : values) (void)rules::any_part(*value, collect);
    if (words.size() < 2 || !known_stack_word(*words.rbegin()).empty()) return;
    const uint32_t count = *words.rbegin() + 1;
    std::string name = temporary();
    line(fmt::format("u64 {0}[{1}] = {{}}; {3}({0}, {2}, "
                     "(void *)MLBCC_STACK_ARG(ctx, 0));",
                     name, count, count * 8, stack_reader()));
    for (uint32_t i = 0; i < count; ++i) {
        known_[fmt::format("word {} 0", plan::to_text({plan::ArgSlot::Kind::stack, i}))] =
            fmt::format("{}[{}]", name, i);
    }
}

std::string CodeWriter::address(const rules::TypedPtr& pointer, const rules::TypedPtr& index,
                                uint32_t scale, uint32_t offset) {
    std::string out = number(*pointer);
    if (offset != 0) out += fmt::format(" + {}", offset);
    if (index) out += fmt::format(" + (u64)({}) * {}", number(*index), scale);
    return fmt::format("((u64)({}))", out);
}

std::string CodeWriter::read(const std::string& to, uint32_t size, const std::string& from,
                             bool of_task) const {
    return !reads_program() || of_task
               ? fmt::format("mlbcc_read({}, {}, {})", to, size, from)
               : fmt::format("bpf_probe_read_user({}, {}, (void *){})", to, size, from);
}

// Whether pointers are the program's for sure.
bool CodeWriter::reads_program() const {
    switch (probe_.kind) {
    case plan::ProbeKind::function:
    case plan::ProbeKind::syscall:
    case plan::ProbeKind::usdt: return true;
    case plan::ProbeKind::kernel:
    case plan::ProbeKind::tracepoint:
    case plan::ProbeKind::defined:
    case plan::ProbeKind::interval: return false;
    }
    return true;
}

// Text that is in a tracepoint's record itself is the kernel's for sure.
std::string CodeWriter::read_text(const rules::TextNode& text) const {
    if (text.of_file) return "mlbcc_read_file_name";
    if (rules::is_of_task(*text.pointer)) return "mlbcc_read_any_text";
    if (reads_program()) return "mlbcc_read_text";
    const auto* leaf = std::get_if<rules::ParamLeaf>(&text.pointer->node);
    if (probe_.kind == plan::ProbeKind::defined) {
        bool array = leaf != nullptr && leaf->index < probe_.signature->params.size() &&
                     std::holds_alternative<rules::ArrayType>(
                         (*plan_.types)[probe_.signature->params[leaf->index].type].kind);
        return array ? "mlbcc_read_kernel_text" : "mlbcc_read_any_text";
    }
    if (probe_.kind == plan::ProbeKind::kernel) return "mlbcc_read_any_text";
    const auto& fields = std::get<target::Tracepoint>(probe_.probe->at).fields;
    bool in_place =
        leaf != nullptr && leaf->index < fields.size() && fields[leaf->index].type.ends_with(']');
    return in_place || (leaf != nullptr && leaf->index < fields.size() &&
                        fields[leaf->index].type.starts_with("__data_loc"))
               ? "mlbcc_read_kernel_text"
               : "mlbcc_read_any_text";
}

std::string CodeWriter::known_stack_word(uint32_t index) const {
    auto found =
        known_.find(fmt::format("word {} 0", plan::to_text({plan::ArgSlot::Kind::stack, index})));
    return found == known_.end() ? "" : found->second;
}

// ---- several reads at one pointer

// Of the program's memory, and where a word has it whole.
bool CodeWriter::can_be_together(const rules::LoadNode& node) const {
    return reads_program() && !node.index && !rules::is_of_task(*node.pointer) &&
           node.offset % node.size == 0;
}

void CodeWriter::find_together(
    const Typed& value, uint32_t most,
    std::map<std::string, std::pair<rules::TypedPtr, Together>>& found) const {
    if (saved(value) != nullptr || known_.contains(rules::to_text(value))) return;
    rules::for_each_operand(
        value, [&](const rules::TypedPtr& part) { find_together(*part, most, found); });
    const auto* node = std::get_if<rules::LoadNode>(&value.node);
    if (node == nullptr || !can_be_together(*node)) return;
    auto& [pointer, all] = found[rules::to_text(*node->pointer)];
    pointer = node->pointer;
    const bool is_first = all.parts.empty();
    const uint32_t end = std::max(is_first ? 0 : all.offset + all.bytes, node->offset + node->size);
    const uint32_t first = std::min(is_first ? UINT32_MAX : all.offset, node->offset / 8 * 8);
    if (end - first > most) return;
    for (Together::Part& part : all.parts) part.offset += all.offset - first;
    all.offset = first;
    all.bytes = end - first;
    const Together::Part part{node->offset - first, node->size};
    if (std::ranges::find(all.parts, part) == all.parts.end()) all.parts.push_back(part);
}

void CodeWriter::read_together(const std::vector<rules::TypedPtr>& values, uint32_t most) {
    std::map<std::string, std::pair<rules::TypedPtr, Together>> found;
    for (const rules::TypedPtr& value : values) find_together(*value, most, found);
    for (auto& [pointer, one] : found) {
        auto& [at, all] = one;
        if (all.parts.size() < 2 || together_.contains(pointer)) continue;
        all.words = temporary();
        read_parts(at, all);
        together_[pointer] = all;
    }
}

// Each by itself where they cannot be read at once: what is in memory of them is read.
void CodeWriter::read_parts(const rules::TypedPtr& pointer, const Together& all) {
    const auto from = [&](uint32_t offset) { return address(pointer, nullptr, 0, offset); };
    line(fmt::format("u64 {0}[{1}] = {{}}, {0}_failed = 0;", all.words, (all.bytes + 7) / 8));
    open_block(fmt::format("if ({}) {{", read(all.words, all.bytes, from(all.offset), false)));
    for (size_t i = 0; i < all.parts.size(); ++i) {
        const Together::Part& part = all.parts[i];
        const std::string one = read("&place", part.size, from(all.offset + part.offset), false);
        line(fmt::format("{{ u{} place = 0; {}_failed |= MLBCC_FAILED({}) << {}; "
                         "{}[{}] |= (u64)place << {}; }}",
                         part.size * 8, all.words, one, i, all.words, part.offset / 8,
                         part.offset % 8 * 8));
    }
    close_block();
}

// Empty where it is none of them.
std::string CodeWriter::part_of(const rules::LoadNode& node, const Typed& value) {
    if (!can_be_together(node)) return {};
    auto found = together_.find(rules::to_text(*node.pointer));
    if (found == together_.end() || node.offset < found->second.offset) return {};
    const Together& all = found->second;
    const Together::Part part{node.offset - all.offset, node.size};
    auto place = std::ranges::find(all.parts, part);
    if (place == all.parts.end()) return {};
    known_["failed " + rules::to_text(value)] =
        fmt::format("({}_failed >> {} & 1)", all.words, place - all.parts.begin());
    return fmt::format("((u{})({}[{}] >> {}))", part.size * 8, all.words, part.offset / 8,
                       part.offset % 8 * 8);
}

void CodeWriter::look_for_memory(const Typed& value) {
    rules::for_each_operand(value, [&](const rules::TypedPtr& part) { look_for_memory(*part); });
    const auto look = [&](const char* kind, const std::string& from, uint32_t bytes) {
        if (!known_.emplace(fmt::format("sought {}", from), "").second) return;
        line(fmt::format("missing |= mlbcc_is_missing{}({}, {});", kind, from, bytes));
    };
    if (!is_program_memory(value)) return;
    if (const auto* text = std::get_if<rules::TextNode>(&value.node))
        look("_text", number(*text->pointer), text->length);
    else if (const auto* node = std::get_if<rules::LoadNode>(&value.node))
        look("", address(node->pointer, node->index, node->scale, node->offset), node->size);
}

std::string CodeWriter::load(const rules::LoadNode& node, const Typed& value) {
    if (std::string part = part_of(node, value); !part.empty()) return loaded(node, value, part);
    std::string from = address(node.pointer, node.index, node.scale, node.offset);
    std::string name = temporary();
    // What is read has a place on the stack no longer than it is being read: BPF's is small.
    line(fmt::format("u64 {0}_failed; u{1} {0} = ({{ u{1} place = 0; "
                     "{0}_failed = MLBCC_FAILED({2}); place; }});",
                     name, node.size * 8,
                     read("&place", node.size, from, rules::is_of_task(*node.pointer))));
    known_["failed " + rules::to_text(value)] = name + "_failed";
    return loaded(node, value, name);
}

std::string CodeWriter::loaded(const rules::LoadNode& node, const Typed& value,
                               const std::string& name) const {
    if (node.bit_width == 0) return converted(name, value, plan_);
    uint64_t mask = node.bit_width >= 64 ? ~0ull : (1ull << node.bit_width) - 1;
    std::string bits = fmt::format("(((u64){} >> {}) & {}ULL)", name, node.bit_offset, mask);
    if (value.show != Show::signed_int) return bits;
    uint32_t up = 64u - node.bit_width;
    return fmt::format("((s64)({} << {}) >> {})", bits, up, up);
}

}  // namespace mlbcc::codegen
