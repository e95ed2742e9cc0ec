// Values with how often each was added: the kernels that a graph will run. Shown as text, the most
// frequent first: "gemm x200, relu x200, softmax x12".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/event.h"
#include "symbols/stacks.h"

namespace mlbcc::event {

// A value that stays when its record is gone.
struct OwnedValue {
    const plan::ValueType* type = nullptr;
    uint64_t bits = 0;
    std::string text;
    bool is_text = false, unread = false;
    symbols::HeldStack stack;

    explicit OwnedValue(const Value& value);
    OwnedValue() = default;
    // As it is shown; the text lives as long as this.
    Value value() const;
    bool operator<(const OwnedValue& other) const;
};

class Bag {
public:
    static constexpr size_t kMaxValues = 4096;  // different ones
    static constexpr size_t kMaxShown = 3;

    // False, and only counted in size(), if there are too many different ones.
    bool add(const Value& value, uint64_t times = 1);
    void add(const Bag& other);
    // The same values, with the types that `keep` gives for theirs.
    template <class Keep> std::shared_ptr<const Bag> with_types(Keep&& keep) const {
        auto made = std::make_shared<Bag>();
        made->size_ = size_;
        for (const auto& [value, times] : values_) {
            OwnedValue kept = value;
            keep(kept);
            made->values_.emplace(std::move(kept), times);
        }
        return made;
    }
    uint64_t size() const { return size_; }
    std::string_view text() const;
    const std::map<OwnedValue, uint64_t>& values() const { return values_; }

private:
    std::map<OwnedValue, uint64_t> values_;
    uint64_t size_ = 0;
    mutable std::string text_;  // made when it is asked for
};

}  // namespace mlbcc::event
