#include "event/bag.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace mlbcc::event {
namespace {

std::string shown(const OwnedValue& value) {
    if (!value.text.empty() || value.is_text) return value.text;
    using Kind = plan::ValueType::Kind;
    if (value.type->kind == Kind::hex) return fmt::format("{:#x}", value.bits);
    if (value.type->kind == Kind::signed_int) {
        return fmt::format("{}", static_cast<int64_t>(value.bits));
    }
    return fmt::format("{}", value.bits);
}

}  // namespace

OwnedValue::OwnedValue(const Value& value)
    : type(value.type), bits(value.bits), text(value.text),
      is_text(value.learnt || !value.text.empty() ||
              value.type->kind == plan::ValueType::Kind::text ||
              value.type->kind == plan::ValueType::Kind::comm),
      unread(value.unread), stack(value.stack) {}

Value OwnedValue::value() const {
    if (is_text) return {type, bits, text, true, unread, stack.get()};
    return {type, bits, {}, false, unread};
}

// What is shown alike is the same: a name stands for any number of handles.
bool OwnedValue::operator<(const OwnedValue& other) const {
    if (unread != other.unread) return unread;
    if (is_text != other.is_text) return is_text;
    return is_text ? text < other.text : bits < other.bits;
}

bool Bag::add(const Value& value, uint64_t times) {
    size_ += times;
    OwnedValue one(value);
    auto found = values_.find(one);
    if (found == values_.end()) {
        if (values_.size() >= kMaxValues) return false;
        found = values_.try_emplace(std::move(one)).first;
    }
    found->second += times;
    text_.clear();
    return true;
}

void Bag::add(const Bag& other) {
    for (const auto& [value, times] : other.values_) add(value.value(), times);
}

std::string_view Bag::text() const {
    if (!text_.empty()) return text_;
    std::vector<std::pair<const OwnedValue*, uint64_t>> all;
    for (const auto& [value, times] : values_) all.emplace_back(&value, times);
    size_t count = std::min(all.size(), kMaxShown);
    std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(count), all.end(),
                      [](const auto& a, const auto& b) {
                          return a.second != b.second ? a.second > b.second : *a.first < *b.first;
                      });
    for (size_t i = 0; i < count; ++i) {
        text_ += fmt::format("{}{} x{}", i == 0 ? "" : ", ", shown(*all[i].first), all[i].second);
    }
    if (all.size() > count) text_ += fmt::format(", and {} more", all.size() - count);
    return text_;
}

}  // namespace mlbcc::event
