#include "symbols/stacks.h"

#include <algorithm>
#include <iterator>

namespace mlbcc::symbols {

size_t StackTable::Hash::operator()(const Key& key) const {
    uint64_t hash = 0x9e3779b97f4a7c15 ^ key.image;
    for (uint64_t address : key.addresses) {
        hash = (hash ^ address) * 0xff51afd7ed558ccd;
        hash ^= hash >> 32;
    }
    return hash;
}

bool StackTable::Equal::same(const Key& a, const Key& b) {
    return a.image == b.image && std::ranges::equal(a.addresses, b.addresses);
}

Stack* StackTable::find(uint32_t image, std::span<const uint64_t> addresses) const {
    auto found = stacks_.find(Key{image, addresses});
    return found == stacks_.end() ? nullptr : found->get();
}

Stack* StackTable::add(uint32_t image, std::span<const uint64_t> addresses,
                       std::span<const std::string> frames) {
    if (stacks_.size() >= capacity_) {
        std::erase_if(stacks_, [](const auto& stack) { return stack->uses == 0; });
    }
    if (stacks_.size() >= capacity_) {
        ++refused_;
        return nullptr;
    }
    auto stack = std::make_unique<Stack>();
    stack->image = image;
    stack->addresses.assign(addresses.begin(), addresses.end());
    name(stack.get(), frames);
    return stacks_.insert(std::move(stack)).first->get();
}

void StackTable::name(Stack* stack, std::span<const std::string> frames) {
    stack->text.clear();
    stack->frames.clear();
    for (const std::string& frame : frames) stack->text += frame;
    size_t at = 0;
    for (const std::string& frame : frames) {
        stack->frames.push_back(std::string_view(stack->text).substr(at, frame.size()));
        at += frame.size();
    }
}

}  // namespace mlbcc::symbols
