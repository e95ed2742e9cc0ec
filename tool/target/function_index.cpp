#include "target/function_index.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace mlbcc::target {

namespace {

bool by_name(const Symbol& a, const Symbol& b) {
    const int order = a.name.compare(b.name);
    return order != 0 ? order < 0 : a.offset < b.offset;
}

// Those of glibc, as gcc knows them (special_function_p in calls.c). vfork() does no harm: the
// kernel treats it on its own.
constexpr auto kReturnTwice = std::to_array<std::string_view>(
    {"setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp", "savectx", "getcontext",
     "__getcontext", "swapcontext", "__swapcontext"});

}  // namespace

FunctionIndex::FunctionIndex(Symbols symbols)
    : functions_(std::move(symbols.functions)), ifuncs_(std::move(symbols.ifuncs)),
      stacks_(std::move(symbols.stacks)) {
    if (!std::is_sorted(functions_.begin(), functions_.end(), by_name)) {
        std::sort(functions_.begin(), functions_.end(), by_name);
    }
    group_by_offset();
}

void FunctionIndex::group_by_offset() {
    const auto count = static_cast<uint32_t>(functions_.size());
    std::vector<std::pair<uint64_t, uint32_t>> order(count);
    for (uint32_t i = 0; i < count; i++) order[i] = {functions_[i].offset, i};
    std::sort(order.begin(), order.end());

    by_offset_.reserve(count);
    groups_.resize(count);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || order[i].first != order[i - 1].first) group_starts_.push_back(i);
        by_offset_.push_back(SymbolId{order[i].second});
        groups_[order[i].second] = GroupId{static_cast<uint32_t>(group_starts_.size() - 1)};
    }
    if (count != 0) group_starts_.push_back(count);
}

std::vector<SymbolId> FunctionIndex::matching(const NamePattern& pattern) const {
    const std::string_view prefix = pattern.prefix();
    const auto first = std::lower_bound(
        functions_.begin(), functions_.end(), prefix,
        [](const Symbol& symbol, std::string_view name) { return symbol.name < name; });
    std::vector<SymbolId> found;
    for (auto it = first; it != functions_.end() && it->name.starts_with(prefix); ++it) {
        if (!pattern.takes_version(it->version) || !pattern.matches(it->name)) continue;
        found.push_back(SymbolId{static_cast<uint32_t>(it - functions_.begin())});
    }
    return found;
}

std::span<const SymbolId> FunctionIndex::members(GroupId group) const {
    const auto index = static_cast<uint32_t>(group);
    return std::span(by_offset_)
        .subspan(group_starts_[index], group_starts_[index + 1] - group_starts_[index]);
}

bool FunctionIndex::returns_twice(SymbolId id) const {
    for (const SymbolId member : members(group_of(id))) {
        const std::string& name = (*this)[member].name;
        const auto found = std::find(kReturnTwice.begin(), kReturnTwice.end(), name);
        if (found != kReturnTwice.end()) return true;
    }
    return false;
}

}  // namespace mlbcc::target
