// The parts of a stack that a rule asks for, each by a clause of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace mlbcc::rules {

enum class StackKind { user, kernel, python };
inline constexpr std::array kStackKinds{StackKind::user, StackKind::kernel, StackKind::python};

// One for each kind.
template <class T> struct ByStackKind : std::array<T, kStackKinds.size()> {
    using Base = std::array<T, kStackKinds.size()>;
    T& operator[](StackKind kind) { return Base::operator[](static_cast<size_t>(kind)); }
    const T& operator[](StackKind kind) const {
        return Base::operator[](static_cast<size_t>(kind));
    }
};

// A set of them.
class StackKinds {
public:
    bool has(StackKind kind) const { return has_[kind]; }
    bool any() const { return std::ranges::find(has_, true) != has_.end(); }
    void add(StackKind kind) { has_[kind] = true; }
    void add(const StackKinds& other) {
        for (StackKind kind : kStackKinds) has_[kind] |= other.has(kind);
    }

private:
    ByStackKind<bool> has_{};
};

}  // namespace mlbcc::rules
