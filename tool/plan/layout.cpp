// Where values stand: in records, in aggregate keys, in the frame that lives from entry to return;
// and which probes are of one shape.
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "plan/planner.h"

namespace mlbcc::plan {
namespace {

constexpr uint32_t kCommBytes = 16;

uint32_t aligned(uint32_t bytes) {
    return (bytes + 7) / 8 * 8;
}

void collect_places(const rules::Typed& value, const Places& places, std::string& out) {
    auto add = [&](uint32_t param) { out += places.of(param); };
    if (const auto* leaf = std::get_if<rules::ParamLeaf>(&value.node)) add(leaf->index);
    if (const auto* leaf = std::get_if<rules::StructArgLeaf>(&value.node)) add(leaf->param);
    // Of these the C type says whether the sign is extended.
    bool typed = value.show == rules::Show::enumeration || value.show == rules::Show::character;
    if (typed && value.type) out += fmt::format("t{}", static_cast<uint32_t>(*value.type));
    rules::for_each_operand(
        value, [&](const rules::TypedPtr& part) { collect_places(*part, places, out); });
}

std::string value_key(const rules::TypedPtr& value, const Places& places, bool raw) {
    // A bare register is stored as it is, whatever its C type: `args` of many functions are alike.
    const auto* leaf = std::get_if<rules::ParamLeaf>(&value->node);
    if (raw && leaf != nullptr && leaf->index < places.slots.size()) {
        return "raw " + places.of(leaf->index);
    }
    std::string all;
    collect_places(*value, places, all);
    return rules::to_text(*value) + " " + all;
}

std::string record_key(const RecordPlan& record, const Places& places) {
    std::string key = record.ret_field ? "ret;" : "";
    if (record.layout.unread) key += "unread;";
    if (record.argument_words) key += "arguments;";
    if (record.layout.words) key += "words;";
    for (const Capture& capture : record.captures) {
        if (record.argument_words) break;
        const RecordSlot& field = record.layout.fields[capture.field];
        if (field.placed) continue;
        key += fmt::format("{}@{}+{};", value_key(capture.value, places, true), field.offset,
                           field.size);
    }
    return key + fmt::format("m{:x}s{:x}p{:x}k{:x}", record.emitting(),
                             record.taking(rules::StackKind::user),
                             record.taking(rules::StackKind::python),
                             record.taking(rules::StackKind::kernel));
}

bool reads_memory(const rules::Typed& value) {
    return rules::any_part(value, [](const rules::Typed& part) {
        return std::holds_alternative<rules::LoadNode>(part.node);
    });
}

}  // namespace

bool takes_duration(const rules::Typed& value) {
    return rules::any_part(value, [](const rules::Typed& part) {
        const auto* leaf = std::get_if<rules::BuiltinLeaf>(&part.node);
        return leaf != nullptr && leaf->which == rules::Builtin::duration;
    });
}

ValueType value_type(const rules::Typed& value) {
    ValueType type{value.show, value.size, {}, {}, value.unit, value.hex_unnamed, value.demangle};
    if (type.kind == ValueType::Kind::enumeration) type.enum_type = value.type;
    if (rules::is_name_of_key(value)) {
        type.learnt_table = std::get<rules::LearntNode>(value.node).table;
    }
    return type;
}

bool may_be_negative(const ValueType& type, const rules::TypeTable& types) {
    if (type.kind == ValueType::Kind::signed_int) return true;
    const auto* e = type.kind == ValueType::Kind::enumeration && type.enum_type
                        ? std::get_if<rules::EnumType>(&types[*type.enum_type].kind)
                        : nullptr;
    return e != nullptr && e->is_signed;
}

uint32_t stored_size(const rules::Typed& value) {
    if (const auto* text = std::get_if<rules::TextNode>(&value.node)) return aligned(text->length);
    if (const auto* text = std::get_if<rules::TextLeaf>(&value.node)) {
        return aligned(static_cast<uint32_t>(text->text.size()) + 1);
    }
    return value.show == rules::Show::comm ? kCommBytes : 8;
}

// Of each value one bit says whether it could be read.
void ProbePlanner::check_values(size_t count, const std::vector<Span>& spans) {
    constexpr size_t kMost = 64;
    if (count <= kMost) return;
    Diagnostics found;
    found
        .error(spans.empty() ? Span() : spans.back(),
               "more than " + std::to_string(kMost) + " values of one call of `" + probe_.symbol +
                   "`: the rules on it ask for " + std::to_string(count))
        .help("record fewer; of an array each element is a value");
    builder_.report(found);
}

void ProbePlanner::lay_out(RecordPlan& record, bool is_return) {
    if (is_return && probe_.ret_type && probe_.ret_type->kind == ValueType::Kind::text) {
        record.ret_field = capture(record, ret_);
    } else if (is_return && probe_.ret_type) {
        record.ret_field = static_cast<uint32_t>(record.layout.fields.size());
        record.layout.fields.push_back({.type = *probe_.ret_type});
    }
    check_values(record.layout.fields.size(), record.spans);
    uint32_t offset = sizeof(RecordHeader) + (is_return ? sizeof(ReturnHeader) : 0);
    const bool may_be_unknown = std::ranges::any_of(record.captures, [&](const Capture& capture) {
        return reads_memory(*capture.value) ||
               (probe_.kind == ProbeKind::syscall && takes_duration(*capture.value));
    });
    if (may_be_unknown || probe_.kind == ProbeKind::interval) {
        record.layout.unread = offset;
        offset += 8;
    }
    if (is_return && probe_.has_entry() && is_function(probe_.kind)) {
        place_words(record, offset);
        if (record.layout.words) offset += 8 * argument_registers(builder_.plan.arch);
    }
    for (RecordSlot& field : record.layout.fields) {
        if (field.placed) continue;
        field.offset = offset;
        offset += field.size;
    }
    const auto place = [&](rules::StackKind kind, size_t size) {
        if (record.taking(kind) == 0) return;
        record.layout.stack[kind] = offset;
        offset += static_cast<uint32_t>(size);
    };
    place(rules::StackKind::python, sizeof(PythonStack));
    place(rules::StackKind::kernel, sizeof(KernelStack));
    place(rules::StackKind::user, 0);  // as long as it is
    record.layout.size = offset;
    if (!is_return) take_as_words(record);
    for (const RulePart& part : probe_.parts) record.rules.push_back(part.rule);
}

// Finds what a value at return takes from the call's beginning: arguments, and memory that must be
// read before the function can change it.
void ProbePlanner::save(const rules::TypedPtr& value) {
    if (const auto* leaf = std::get_if<rules::ParamLeaf>(&value->node)) {
        return save_argument(leaf->index);
    }
    if (const auto* leaf = std::get_if<rules::StructArgLeaf>(&value->node)) {
        return save_argument(leaf->param);
    }
    bool read = std::holds_alternative<rules::LoadNode>(value->node) ||
                std::holds_alternative<rules::TextNode>(value->node);
    if (value->stage == rules::Stage::ret || !read || rules::always_known(*value)) {
        rules::for_each_operand(*value, [&](const rules::TypedPtr& part) { save(part); });
        return;
    }
    std::string text = rules::to_text(*value);
    for (const Saved& known : probe_.saved) {
        if (rules::to_text(*known.value) == text) return;
    }
    probe_.saved.push_back({value, 0, stored_size(*value)});
}

void ProbePlanner::save_argument(uint32_t param) {
    std::vector<ArgSlot> words{locate_argument(param, builder_.plan.arch)};
    if (param < probe_.slots.size()) words = probe_.slots[param];
    for (const ArgSlot& slot : words) {
        if (slot.kind == ArgSlot::Kind::none) continue;
        uint32_t all = word_index(slot, builder_.plan.arch) + 1;
        probe_.saved_words =
            std::max({probe_.saved_words, all, argument_registers(builder_.plan.arch)});
    }
}

// The word of the calling convention that a value is as it is; none where it is anything else.
std::optional<uint32_t> ProbePlanner::argument_word(const rules::Typed& value) const {
    bool words = is_function(probe_.kind) || probe_.kind == ProbeKind::syscall;
    if (!words) return std::nullopt;
    const auto* leaf = std::get_if<rules::ParamLeaf>(&value.node);
    if (leaf == nullptr) return std::nullopt;
    ArgSlot slot = locate_argument(leaf->index, builder_.plan.arch);
    if (leaf->index < probe_.slots.size()) {
        if (probe_.slots[leaf->index].size() != 1) return std::nullopt;
        slot = probe_.slots[leaf->index].front();
    }
    bool word = slot.kind == ArgSlot::Kind::reg || slot.kind == ArgSlot::Kind::stack;
    return word ? std::make_optional(word_index(slot, builder_.plan.arch)) : std::nullopt;
}

std::optional<uint32_t> ProbePlanner::in_header(const rules::Typed& value) const {
    const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value.node);
    if (leaf == nullptr || probe_.kind == ProbeKind::interval) return std::nullopt;
    switch (leaf->which) {
    case rules::Builtin::time: return offsetof(RecordHeader, time_ns);
    case rules::Builtin::pid: return offsetof(RecordHeader, pid);
    case rules::Builtin::tid: return offsetof(RecordHeader, tid);
    case rules::Builtin::comm: return offsetof(RecordHeader, comm);
    case rules::Builtin::ret:
    case rules::Builtin::duration:
    case rules::Builtin::ppid:
    case rules::Builtin::cpu:
    case rules::Builtin::function:
    case rules::Builtin::symbol:
    case rules::Builtin::from_start:
    case rules::Builtin::task:
    case rules::Builtin::stack: break;
    }
    return std::nullopt;
}

// What are words of the arguments needs no code of its own where all of them are copied. So is what
// looks its name up: the key, if it is a whole word.
void ProbePlanner::place_words(RecordPlan& record, uint32_t offset) {
    for (const Capture& capture : record.captures) {
        const auto* learnt = std::get_if<rules::LearntNode>(&capture.value->node);
        if (learnt != nullptr && learnt->key->size != 8) continue;
        const std::optional<uint32_t> word =
            argument_word(learnt == nullptr ? *capture.value : *learnt->key);
        if (!word || *word >= argument_registers(builder_.plan.arch)) continue;
        RecordSlot& field = record.layout.fields[capture.field];
        field.offset = offset + 8 * *word;
        field.placed = true;
        record.layout.words = offset;
    }
}

// Where the record can be one of arguments as they are, its fields move to the words' places.
void ProbePlanner::take_as_words(RecordPlan& record) const {
    bool words_there = is_function(probe_.kind) || probe_.kind == ProbeKind::syscall;
    const RecordLayout& layout = record.layout;
    if (layout.has_stack() || !words_there) return;
    std::vector<uint32_t> words;
    uint32_t count = 0;
    std::optional<size_t> text;
    for (size_t i = 0; i < record.captures.size(); ++i) {
        const rules::Typed& value = *record.captures[i].value;
        const auto* read = std::get_if<rules::TextNode>(&value.node);
        bool other = read != nullptr && (read->length != kArgumentTextBytes || read->of_file);
        if (other || (read != nullptr && text)) return;
        if (read != nullptr) text = i;
        std::optional<uint32_t> word = argument_word(read == nullptr ? value : *read->pointer);
        if (!word) return;
        words.push_back(*word);
        count = std::max(count, *word + 1);
    }
    // Words that nobody asked for are copied, too; many of them would cost more than a shape.
    if (count > kMaxArgumentWords || count > words.size() + 2) return;
    for (size_t i = 0; i < words.size(); ++i) {
        uint32_t place = text == i ? count : words[i];
        record.layout.fields[record.captures[i].field].offset =
            static_cast<uint32_t>(sizeof(RecordHeader)) + 8 * place;
    }
    record.layout.size =
        static_cast<uint32_t>(sizeof(RecordHeader)) + 8 * count + (text ? kArgumentTextBytes : 0);
    record.argument_words = count;
    record.argument_text = text ? words[*text] + 1 : 0;
}

void ProbePlanner::save_for_return() {
    if (probe_.acts_at_end()) return;
    if (probe_.ret) {
        for (const Capture& capture : probe_.ret->captures) save(capture.value);
    }
    for (const RulePart& part : probe_.parts) {
        for (const rules::TypedPtr& condition : part.return_where) save(condition);
    }
    for (const AggregateUse& use : probe_.aggregates) {
        if (use.at_entry) continue;
        for (const rules::TypedPtr& part : use.by) save(part);
        if (use.value) save(use.value);
    }
    uint32_t offset = probe_.saved_words * 8;
    for (Saved& one : probe_.saved) {
        one.offset = offset;
        offset += one.size;
    }
}

std::string Places::of(uint32_t param) const {
    std::string text;
    if (fields != nullptr && param < fields->size()) {
        const target::TraceField& field = (*fields)[param];
        return fmt::format("{}+{}{}{}", field.offset, field.size, field.is_signed ? "s" : "u",
                           field.type.starts_with("__data_loc") ? "@" : "");
    }
    if (arguments != nullptr && param < arguments->size()) {
        // A symbol is another distance away at another place.
        const auto* memory = std::get_if<target::UsdtMemory>(&(*arguments)[param].place);
        return fmt::format("{}{:+}", (*arguments)[param].text,
                           memory == nullptr ? 0 : memory->displacement);
    }
    if (param >= slots.size()) return text;
    for (const ArgSlot& slot : slots[param]) text += to_text(slot);
    return text;
}

Places ProbePlanner::places() const {
    const auto* tracepoint = std::get_if<target::Tracepoint>(&target_.at);
    const auto* usdt = std::get_if<target::Usdt>(&target_.at);
    return {probe_.slots, tracepoint == nullptr ? nullptr : &tracepoint->fields,
            usdt == nullptr ? nullptr : &usdt->probe.arguments};
}

std::string ProbePlanner::frame_key() const {
    const char* at_end = probe_.has_entry() ? "t" : "c";
    std::string kind = fmt::format("|kind {}{}", static_cast<int>(probe_.kind),
                                   probe_.acts_at_end() ? at_end : "");
    if (probe_.kind == ProbeKind::defined) kind += " " + target_.signature->name;
    if (!probe_.needs_frame()) return kind + "|no frame";
    std::string key = fmt::format("{}|frame {}", kind, probe_.saved_words);
    for (const Saved& saved : probe_.saved) {
        key += fmt::format(" {}@{}", value_key(saved.value, places(), true), saved.offset);
    }
    // Text that becomes the key of a group is saved with all its bytes.
    if (!probe_.saved.empty() && !probe_.aggregates.empty()) key += " clean";
    return key;
}

std::string ProbePlanner::aggregates_key(bool at_entry) const {
    std::string key;
    for (const AggregateUse& use : probe_.aggregates) {
        if (use.at_entry != at_entry) continue;
        key += fmt::format("|aggregate {} {:x}{}", static_cast<uint32_t>(use.aggregate), use.hit,
                           use.is_own_known ? " own" : "");
        for (const auto& one : use.by) key += " " + value_key(one, places(), false);
        if (use.value) key += " " + value_key(use.value, places(), false);
    }
    return key;
}

// Rules that act only at return are told apart there.
std::string ProbePlanner::entry_key() const {
    std::string key = frame_key() + aggregates_key(true);
    const bool conditional = std::ranges::any_of(probe_.parts, &RulePart::conditional);
    bool later = false;
    for (const RulePart& part : probe_.parts) {
        later |= part.at_return;
        if (part.all) key += " all";
        if (!conditional) continue;
        key += fmt::format("|part {}", part.at_return);
        if (part.sample > 1) {
            key += fmt::format(" 1/{} of {}", part.sample, static_cast<uint32_t>(part.rule));
        }
        if (part.traced_only) key += " traced";
        for (const auto& one : part.entry_where) key += " e:" + value_key(one, places(), false);
    }
    if (later) key += "|later";
    if (probe_.entry) key += "|entry " + record_key(*probe_.entry, places());
    return key;
}

std::string ProbePlanner::return_key() const {
    std::string key = frame_key() + aggregates_key(false);
    for (const RulePart& part : probe_.parts) {
        key += fmt::format("|rule {}", part.at_return);
        for (const auto& one : part.return_where) {
            key += " r:" + value_key(one, places(), false);
        }
    }
    if (probe_.ret) key += "|return " + record_key(*probe_.ret, places());
    return key;
}

}  // namespace mlbcc::plan
