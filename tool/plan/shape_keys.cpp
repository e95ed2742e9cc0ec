#include "plan/shape_keys.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace mlbcc::plan {
namespace {

// Where a probe's parameters are, for the text by which shapes are told apart.
struct Places {
    const ArgSlots& slots;
    const std::vector<target::TraceField>* fields = nullptr;       // of a tracepoint
    const std::vector<target::UsdtArgument>* arguments = nullptr;  // of a probe of a program
    std::string of(uint32_t param) const;
};

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

Places places_of(const ProbePlan& probe) {
    const auto* tracepoint = std::get_if<target::Tracepoint>(&probe.probe->at);
    const auto* usdt = std::get_if<target::Usdt>(&probe.probe->at);
    return {probe.slots, tracepoint == nullptr ? nullptr : &tracepoint->fields,
            usdt == nullptr ? nullptr : &usdt->probe.arguments};
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

// Probes that tell calls apart by other things have shapes of their own.
std::string how_it_ends(const ProbePlan& probe) {
    if (probe.is_of_go()) return "of Go ";
    if (!probe.ends_at_instructions()) return "";
    return probe.moves() ? "of coroutines " : "at instructions ";
}

std::string frame_key(const ProbePlan& probe) {
    const char* at_end = probe.has_entry() ? "t" : "c";
    std::string kind =
        fmt::format("|kind {}{}", static_cast<int>(probe.kind), probe.acts_at_end() ? at_end : "");
    if (probe.kind == ProbeKind::defined) kind += " " + probe.signature->name;
    if (!probe.needs_frame()) return kind + "|no frame";
    std::string key = fmt::format("{}|frame {}", kind, probe.saved_words);
    for (const Saved& saved : probe.saved) {
        key += fmt::format(" {}@{}", value_key(saved.value, places_of(probe), true), saved.offset);
    }
    // Text that becomes the key of a group is saved with all its bytes.
    if (!probe.saved.empty() && !probe.aggregates.empty()) key += " clean";
    return key;
}

std::string aggregates_key(const ProbePlan& probe, bool at_entry) {
    std::string key;
    for (const AggregateUse& use : probe.aggregates) {
        if (use.at_entry != at_entry) continue;
        key += fmt::format("|aggregate {} {:x}{}", static_cast<uint32_t>(use.aggregate), use.hit,
                           use.is_own_known ? " own" : "");
        for (const auto& one : use.by) key += " " + value_key(one, places_of(probe), false);
        if (use.value) key += " " + value_key(use.value, places_of(probe), false);
    }
    return key;
}

}  // namespace

// Rules that act only at return are told apart there.
std::string entry_key(const ProbePlan& probe) {
    std::string key = "entry " + how_it_ends(probe);
    if (probe.acts_at_end()) return key + "time";
    key += frame_key(probe) + aggregates_key(probe, true);
    const bool conditional = std::ranges::any_of(probe.parts, &RulePart::conditional);
    bool later = false;
    for (const RulePart& part : probe.parts) {
        later |= part.at_return;
        if (part.all) key += " all";
        if (!conditional) continue;
        key += fmt::format("|part {}", part.at_return);
        if (part.sample > 1) {
            key += fmt::format(" 1/{} of {}", part.sample, static_cast<uint32_t>(part.rule));
        }
        if (part.traced_only) key += " traced";
        for (const auto& one : part.entry_where)
            key += " e:" + value_key(one, places_of(probe), false);
    }
    if (later) key += "|later";
    if (probe.entry) key += "|entry " + record_key(*probe.entry, places_of(probe));
    return key;
}

std::string return_key(const ProbePlan& probe) {
    std::string key =
        "return " + how_it_ends(probe) + frame_key(probe) + aggregates_key(probe, false);
    for (const RulePart& part : probe.parts) {
        key += fmt::format("|rule {}", part.at_return);
        for (const auto& one : part.return_where) {
            key += " r:" + value_key(one, places_of(probe), false);
        }
    }
    if (probe.ret) key += "|return " + record_key(*probe.ret, places_of(probe));
    return key;
}

}  // namespace mlbcc::plan
