#include "codegen/rooms.h"

#include <algorithm>

#include "codegen/values.h"

namespace mlbcc::codegen {
namespace {

const plan::Aggregate& aggregate_of(const plan::Plan& plan, const plan::AggregateUse& use) {
    return plan.aggregates[static_cast<uint32_t>(use.aggregate)];
}

bool compares_large_text(const rules::Typed& value) {
    const auto* node = std::get_if<rules::BinaryNode>(&value.node);
    return node != nullptr && node->left->is_text() &&
           std::holds_alternative<rules::TextLeaf>(node->right->node) &&
           (node->op == rules::BinaryOp::ends_with || compared_bytes(*node) > kMaxTextOnStack);
}

bool compares_large_texts(const plan::ProbePlan& probe) {
    return std::ranges::any_of(computed(probe), [](const rules::TypedPtr& value) {
        return rules::any_part(*value, compares_large_text);
    });
}

// A template's probe is told of in programs of its own.
bool is_apart(const plan::ProbePlan& probe) {
    return probe.kind == plan::ProbeKind::defined;
}
constexpr uint32_t kSharedRooms = 2;

}  // namespace

bool comes_between(const plan::ProbePlan& probe) {
    return probe.kind == plan::ProbeKind::tracepoint || probe.kind == plan::ProbeKind::kernel;
}

bool is_large_key(const plan::Aggregate& aggregate) {
    return aggregate.in_kernel && aggregate.key_size > kMaxKeyOnStack;
}

// One more than the literal, so that text cut off behind it is not taken for equal; all of it where
// its end counts.
uint32_t compared_bytes(const rules::BinaryNode& node) {
    const std::string& literal = std::get<rules::TextLeaf>(node.right->node).text;
    const auto* text = std::get_if<rules::TextNode>(&node.left->node);
    if (node.op == rules::BinaryOp::ends_with && text != nullptr) return text->length;
    const auto size = static_cast<uint32_t>((literal.size() + 1) / 8 * 8 + 8);
    const bool is_comm = std::holds_alternative<rules::BuiltinLeaf>(node.left->node);
    return std::min(std::max(size, is_comm ? 16u : 0u), kMaxComparedText);
}

bool needs_room(const plan::Plan& plan, const plan::ProbePlan& probe) {
    const auto is_large = [&](const plan::AggregateUse& use) {
        return is_large_key(aggregate_of(plan, use));
    };
    return std::ranges::any_of(probe.aggregates, is_large) || compares_large_texts(probe);
}

Rooms rooms(const plan::Plan& plan) {
    Rooms made;
    uint32_t apart = 0;
    for (const plan::ProbePlan& probe : plan.probes) {
        if (!needs_room(plan, probe)) continue;
        if (is_apart(probe)) ++apart;
        made.count = kSharedRooms + apart;
        for (const plan::AggregateUse& use : probe.aggregates) {
            const plan::Aggregate& aggregate = aggregate_of(plan, use);
            if (is_large_key(aggregate))
                made.bytes = std::max(made.bytes, (aggregate.key_size + 7) / 8 * 8);
        }
        if (compares_large_texts(probe)) made.bytes = std::max(made.bytes, kMaxComparedText);
    }
    return made;
}

uint32_t room_of(const plan::Plan& plan, const plan::ProbePlan& probe) {
    if (!is_apart(probe)) return comes_between(probe) ? 1 : 0;
    const auto end = plan.probes.begin() + static_cast<uint32_t>(probe.id);
    return kSharedRooms + static_cast<uint32_t>(std::count_if(
                              plan.probes.begin(), end, [&](const plan::ProbePlan& one) {
                                  return is_apart(one) && needs_room(plan, one);
                              }));
}

}  // namespace mlbcc::codegen
