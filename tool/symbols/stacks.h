// Each distinct user stack once: the return addresses of a process image -> its frames as text.
// Programs have few call sites, so millions of events share some hundred stacks; a gauge keeps the
// stack of what it holds for nothing. Stacks that nobody uses are dropped when the table is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mlbcc::symbols {

struct Stack {
    uint32_t image = 0;  // the process image that the addresses belong to
    uint32_t uses = 0;
    std::vector<uint64_t> addresses;
    std::string text;                      // all frames, one after the other
    std::vector<std::string_view> frames;  // into `text`, innermost first
};

class StackTable {
public:
    explicit StackTable(size_t capacity = 16384) : capacity_(capacity) {}

    // Null if it is not there. Does not count as a use.
    Stack* find(uint32_t image, std::span<const uint64_t> addresses) const;
    // Null, and counted, if the table is full of stacks in use.
    Stack* add(uint32_t image, std::span<const uint64_t> addresses,
               std::span<const std::string> frames);
    // Other frames for it: all who have it show these.
    static void name(Stack* stack, std::span<const std::string> frames);
    static void retain(Stack* stack) { ++stack->uses; }
    static void release(Stack* stack) { --stack->uses; }

    size_t size() const { return stacks_.size(); }
    uint64_t refused() const { return refused_; }

private:
    struct Key {
        uint32_t image;
        std::span<const uint64_t> addresses;
    };
    static Key key_of(const Key& key) { return key; }
    static Key key_of(const std::unique_ptr<Stack>& stack) {
        return {stack->image, stack->addresses};
    }
    struct Hash {
        using is_transparent = void;
        size_t operator()(const Key& key) const;
        size_t operator()(const std::unique_ptr<Stack>& stack) const {
            return (*this)(key_of(stack));
        }
    };
    struct Equal {
        using is_transparent = void;
        static bool same(const Key& a, const Key& b);
        template <class A, class B> bool operator()(const A& a, const B& b) const {
            return same(key_of(a), key_of(b));
        }
    };

    size_t capacity_;
    uint64_t refused_ = 0;
    std::unordered_set<std::unique_ptr<Stack>, Hash, Equal> stacks_;
};

// A stack in use, or none. The table that it is of must live longer.
class HeldStack {
public:
    HeldStack() = default;
    explicit HeldStack(Stack* stack) : stack_(stack) {
        if (stack_ != nullptr) StackTable::retain(stack_);
    }
    HeldStack(const HeldStack& other) : HeldStack(other.stack_) {}
    HeldStack(HeldStack&& other) noexcept : stack_(std::exchange(other.stack_, nullptr)) {}
    HeldStack& operator=(HeldStack other) noexcept {
        std::swap(stack_, other.stack_);
        return *this;
    }
    ~HeldStack() {
        if (stack_ != nullptr) StackTable::release(stack_);
    }
    Stack* get() const { return stack_; }

private:
    Stack* stack_ = nullptr;
};

}  // namespace mlbcc::symbols
