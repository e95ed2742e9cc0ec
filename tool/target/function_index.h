// The functions of one file by name and by address: a pattern to the symbols it matches, a symbol
// to its group. A group is all names at one address: the kernel attaches to it once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "target/forms.h"
#include "target/target.h"

namespace mlbcc::target {

enum class SymbolId : uint32_t {};
enum class GroupId : uint32_t {};

class FunctionIndex {
public:
    FunctionIndex() = default;
    explicit FunctionIndex(Symbols symbols);

    const Symbol& operator[](SymbolId id) const { return functions_[static_cast<uint32_t>(id)]; }
    size_t size() const { return functions_.size(); }
    size_t group_count() const { return group_starts_.empty() ? 0 : group_starts_.size() - 1; }
    std::span<const Symbol> functions() const { return functions_; }
    std::span<const std::string> ifuncs() const { return ifuncs_; }
    const StackSigns& stacks() const { return stacks_; }

    std::vector<SymbolId> matching(const NamePattern& pattern) const;
    GroupId group_of(SymbolId id) const { return groups_[static_cast<uint32_t>(id)]; }
    // The names at one address, in alphabetical order.
    std::span<const SymbolId> members(GroupId group) const;
    // Whether a function returns a second time, as setjmp() does: a probe on its return breaks the
    // program, which jumps back to a return address that the kernel has replaced.
    bool returns_twice(SymbolId id) const;

private:
    void group_by_offset();

    std::vector<Symbol> functions_;  // by name
    std::vector<std::string> ifuncs_;
    StackSigns stacks_;
    std::vector<SymbolId> by_offset_;
    std::vector<uint32_t> group_starts_;  // into by_offset_, and its end
    std::vector<GroupId> groups_;         // by SymbolId
};

}  // namespace mlbcc::target
