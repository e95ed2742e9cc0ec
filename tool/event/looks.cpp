#include "event/looks.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace mlbcc::event {
namespace {

template <class T> void put(std::span<std::byte> to, size_t offset, const T& value) {
    std::memcpy(to.data() + offset, &value, sizeof value);
}

uint64_t builtin(rules::Builtin which, const Look& look) {
    switch (which) {
    case rules::Builtin::pid:
    case rules::Builtin::tid: return look.pid;
    case rules::Builtin::ppid: return look.ppid;
    case rules::Builtin::cpu: return look.cpu;
    case rules::Builtin::time: return look.time_ns;
    case rules::Builtin::ret:
    case rules::Builtin::duration:
    case rules::Builtin::comm:
    case rules::Builtin::function:
    case rules::Builtin::symbol:
    case rules::Builtin::from_start:
    case rules::Builtin::task:
    case rules::Builtin::stack: break;  // refused by the checker, or no numbers
    }
    return 0;
}

// What the planner captures of a look: a parameter, a built-in name, or the key of a learnt name.
// Nullopt where it could not be read.
std::optional<uint64_t> number(const rules::Typed& value, const Look& look) {
    if (const auto* learnt = std::get_if<rules::LearntNode>(&value.node)) {
        return number(*learnt->key, look);
    }
    if (const auto* leaf = std::get_if<rules::BuiltinLeaf>(&value.node)) {
        return builtin(leaf->which, look);
    }
    uint32_t index = std::get<rules::ParamLeaf>(value.node).index;
    if (index >= look.values.size() || (look.unread >> index & 1) != 0) return std::nullopt;
    return static_cast<uint64_t>(look.values[index]);
}

plan::RecordHeader header_of(const Look& look, uint32_t hits) {
    plan::RecordHeader header{};
    header.time_ns = look.time_ns;
    header.probe = static_cast<uint32_t>(look.probe);
    // It says nothing of calls that are open: as after a tail call, at no place of the stack.
    header.what = static_cast<uint32_t>(plan::RecordKind::entry) | plan::kTailCall | hits << 8;
    header.pid = header.tid = look.pid;
    std::memcpy(header.comm, look.comm.data(), std::min(look.comm.size(), sizeof header.comm - 1));
    return header;
}

}  // namespace

std::span<const std::byte> Looks::take(const Look& look) {
    const plan::ProbePlan& probe = plan_.probes[static_cast<uint32_t>(look.probe)];
    record_.clear();
    if (!probe.entry) return record_;
    const plan::RecordPlan& plan = *probe.entry;
    uint32_t hits = 0;
    for (const plan::Emit& emit : plan.emits) hits |= emit.mask;
    record_.assign(plan.layout.size, std::byte{});
    put(std::span(record_), 0, header_of(look, hits));
    uint64_t unread = 0;
    for (const plan::Capture& one : plan.captures) {
        const plan::RecordSlot& field = plan.layout.fields[one.field];
        if (field.type.kind == plan::ValueType::Kind::comm) {
            std::memcpy(record_.data() + field.offset, look.comm.data(),
                        std::min<size_t>(look.comm.size(), field.size - 1));
        } else if (auto bits = number(*one.value, look)) {
            put(std::span(record_), field.offset, *bits);
        } else {
            unread |= 1ull << (one.field & 63);
        }
    }
    if (plan.layout.unread) put(std::span(record_), *plan.layout.unread, unread);
    for (size_t i = 0; i < plan.rules.size(); ++i) {
        if ((hits >> i & 1) != 0) ++submitted_[static_cast<uint32_t>(plan.rules[i])];
    }
    return record_;
}

}  // namespace mlbcc::event
