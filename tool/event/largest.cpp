#include "event/largest.h"

#include <algorithm>

namespace mlbcc::event {

const plan::LargestList& Largest::plan_of(plan::ListId list) const {
    return plan_.lists[static_cast<uint32_t>(list)];
}

bool Largest::is_larger(plan::ListId list, uint64_t a, uint64_t b) const {
    if (!plan_of(list).is_signed) return a > b;
    return static_cast<int64_t>(a) > static_cast<int64_t>(b);
}

Largest::List& Largest::list(plan::ListId list) {
    if (lists_.size() < plan_.lists.size()) lists_.resize(plan_.lists.size());
    return lists_[static_cast<uint32_t>(list)];
}

bool Largest::wants(plan::ListId id, uint64_t bits) {
    List& list = this->list(id);
    ++list.calls;
    return list.kept.size() < plan_of(id).count || is_larger(id, bits, list.kept.back().bits);
}

void Largest::add(plan::ListId id, const LargestEntry& entry, symbols::Stack* stack) {
    List& list = this->list(id);
    auto at = std::ranges::find_if(
        list.kept, [&](const Kept& known) { return is_larger(id, entry.bits, known.bits); });
    Kept kept{entry.bits,
              entry.time_ns,
              entry.pid,
              entry.tid,
              std::string(entry.comm),
              {},
              symbols::HeldStack(stack)};
    for (const NamedValue& one : entry.values) kept.values.emplace_back(one.name, one.value);
    list.kept.insert(at, std::move(kept));
    if (list.kept.size() > plan_of(id).count) list.kept.pop_back();
}

uint64_t Largest::calls(plan::ListId list) const {
    auto index = static_cast<uint32_t>(list);
    return index < lists_.size() ? lists_[index].calls : 0;
}

std::vector<LargestEntry> Largest::entries(plan::ListId list) const {
    std::vector<LargestEntry> out;
    auto index = static_cast<uint32_t>(list);
    if (index >= lists_.size()) return out;
    for (const Kept& kept : lists_[index].kept) {
        LargestEntry& entry = out.emplace_back();
        entry.bits = kept.bits;
        entry.time_ns = kept.time_ns;
        entry.pid = kept.pid;
        entry.tid = kept.tid;
        entry.comm = kept.comm;
        for (const auto& [name, value] : kept.values) {
            entry.values.push_back({name, value.value()});
        }
        if (kept.stack.get() != nullptr) entry.stack = kept.stack.get()->frames;
    }
    return out;
}

}  // namespace mlbcc::event
