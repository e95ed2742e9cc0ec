#include "plan/probe_layout.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "plan/stored_values.h"

namespace mlbcc::plan {
namespace {

bool reads_memory(const rules::Typed& value) {
    return rules::any_part(value, [](const rules::Typed& part) {
        return std::holds_alternative<rules::LoadNode>(part.node);
    });
}

}  // namespace

// Of each value one bit says whether it could be read.
void ProbeLayout::check_values(size_t count, const std::vector<Span>& spans) {
    constexpr size_t kMost = 64;
    if (count <= kMost) return;
    Diagnostics found;
    found
        .error(spans.empty() ? Span() : spans.back(),
               "more than " + std::to_string(kMost) + " values of one call of `" + probe_.symbol +
                   "`: the rules on it ask for " + std::to_string(count))
        .help("record fewer; of an array each element is a value");
    report_(found);
}

void ProbeLayout::lay_out(RecordPlan& record, bool is_return) {
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
        if (record.layout.words) offset += 8 * argument_registers(arch_);
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
void ProbeLayout::save(const rules::TypedPtr& value) {
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

void ProbeLayout::save_argument(uint32_t param) {
    std::vector<ArgSlot> words{locate_argument(param, arch_)};
    if (param < probe_.slots.size()) words = probe_.slots[param];
    for (const ArgSlot& slot : words) {
        if (slot.kind == ArgSlot::Kind::none) continue;
        uint32_t all = word_index(slot, arch_) + 1;
        probe_.saved_words = std::max({probe_.saved_words, all, argument_registers(arch_)});
    }
}

// The word of the calling convention that a value is as it is; none where it is anything else.
std::optional<uint32_t> ProbeLayout::argument_word(const rules::Typed& value) const {
    bool words = is_function(probe_.kind) || probe_.kind == ProbeKind::syscall;
    if (!words) return std::nullopt;
    const auto* leaf = std::get_if<rules::ParamLeaf>(&value.node);
    if (leaf == nullptr) return std::nullopt;
    ArgSlot slot = locate_argument(leaf->index, arch_);
    if (leaf->index < probe_.slots.size()) {
        if (probe_.slots[leaf->index].size() != 1) return std::nullopt;
        slot = probe_.slots[leaf->index].front();
    }
    bool word = slot.kind == ArgSlot::Kind::reg || slot.kind == ArgSlot::Kind::stack;
    return word ? std::make_optional(word_index(slot, arch_)) : std::nullopt;
}

// What are words of the arguments needs no code of its own where all of them are copied. So is what
// looks its name up: the key, if it is a whole word.
void ProbeLayout::place_words(RecordPlan& record, uint32_t offset) {
    for (const Capture& capture : record.captures) {
        const auto* learnt = std::get_if<rules::LearntNode>(&capture.value->node);
        if (learnt != nullptr && learnt->key->size != 8) continue;
        const std::optional<uint32_t> word =
            argument_word(learnt == nullptr ? *capture.value : *learnt->key);
        if (!word || *word >= argument_registers(arch_)) continue;
        RecordSlot& field = record.layout.fields[capture.field];
        field.offset = offset + 8 * *word;
        field.placed = true;
        record.layout.words = offset;
    }
}

// Where the record can be one of arguments as they are, its fields move to the words' places.
void ProbeLayout::take_as_words(RecordPlan& record) const {
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

void ProbeLayout::save_for_return() {
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

void ProbeLayout::find_text_words() {
    if (probe_.is_of_go()) return;  // touched by C's registers
    if (probe_.entry) {
        for (const Capture& one : probe_.entry->captures) add_text_words(*one.value);
    }
    for (const Saved& one : probe_.saved) add_text_words(*one.value);
    for (const AggregateUse& use : probe_.aggregates) {
        if (!use.at_entry) continue;
        for (const rules::TypedPtr& value : use.by) add_text_words(*value);
    }
    for (const RulePart& part : probe_.parts) {
        for (const rules::TypedPtr& condition : part.entry_where) add_text_words(*condition);
    }
}

void ProbeLayout::add_text_words(const rules::Typed& value) {
    const auto* text = std::get_if<rules::TextNode>(&value.node);
    if (text != nullptr && !text->of_file) {
        std::optional<uint32_t> word = argument_word(*text->pointer);
        const auto* leaf = std::get_if<rules::ParamLeaf>(&text->pointer->node);
        if (probe_.kind == ProbeKind::usdt && leaf != nullptr) word = leaf->index;
        if (word && *word < 32) {
            probe_.text_words |= 1u << *word;
            probe_.text_bytes = std::max(probe_.text_bytes, text->length);
        }
    }
    rules::for_each_operand(value, [&](const rules::TypedPtr& part) { add_text_words(*part); });
}

void ProbeLayout::lay_out() {
    if (probe_.ret) check_values(probe_.saved.size(), probe_.ret->spans);
    if (probe_.entry) lay_out(*probe_.entry, false);
    if (probe_.ret) lay_out(*probe_.ret, true);
}

}  // namespace mlbcc::plan
