#include "event/values.h"

#include <algorithm>

namespace mlbcc::event {
namespace {

using Kind = plan::ValueType::Kind;

// How generated code writes a text whose memory could not be read.
constexpr std::string_view kUnread{"\xff", 1};

bool is_text(Kind kind) {
    return kind == Kind::text || kind == Kind::comm;
}

}  // namespace

std::string_view EnumNames::find(uint64_t bits) const {
    auto found = std::ranges::lower_bound(constants, bits, {},
                                          &std::pair<uint64_t, std::string_view>::first);
    return found != constants.end() && found->first == bits ? found->second : std::string_view();
}

const EnumNames* EnumTable::names(rules::TypeId type) {
    auto& known = known_[type];
    if (known) return known.get();
    known = std::make_unique<EnumNames>();
    const auto* described =
        types_ == nullptr ? nullptr : std::get_if<rules::EnumType>(&(*types_)[type].kind);
    if (described == nullptr) return known.get();
    known->is_signed = described->is_signed;
    for (const auto& [name, value] : described->constants) {
        known->constants.emplace_back(static_cast<uint64_t>(value), name);
    }
    auto by_value = [](const auto& constant) { return constant.first; };
    std::ranges::stable_sort(known->constants, {}, by_value);
    auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    known->constants.erase(std::unique(known->constants.begin(), known->constants.end(), same),
                           known->constants.end());
    return known.get();
}

ValueReader::ValueReader(const plan::RecordSlot& field, EnumTable& enums, const Tables& tables)
    : type_(&field.type), offset_(field.offset), size_(field.size),
      stored_(type_->kind != Kind::function && type_->kind != Kind::symbol),
      table_(type_->learnt_table.empty() ? std::nullopt : tables.table(type_->learnt_table)) {
    if (!is_text(type_->kind)) size_ = 8;
    uint8_t bytes = type_->kind == Kind::character ? 1 : type_->size;
    if (bytes > 0 && bytes < 8) unused_bits_ = static_cast<uint8_t>(64 - 8 * bytes);
    if (type_->kind == Kind::enumeration && type_->enum_type)
        enum_ = enums.names(*type_->enum_type);
    sign_extend_ = type_->kind == Kind::signed_int || (enum_ != nullptr && enum_->is_signed);
}

ValueReader::ValueReader(const plan::RecordLayout& layout, uint32_t field, EnumTable& enums,
                         const Tables& tables)
    : ValueReader(layout.fields[field], enums, tables) {
    if (!layout.unread) return;
    unread_offset_ = *layout.unread;
    unread_bit_ = 1ull << (field & 63);
}

uint64_t ValueReader::extended(uint64_t raw) const {
    uint64_t high = raw << unused_bits_;
    if (!sign_extend_) return high >> unused_bits_;
    return static_cast<uint64_t>(static_cast<int64_t>(high) >> unused_bits_);
}

Value ValueReader::read_number(const ValueContext& context) const {
    if (unread_bit_ != 0 && (read_at<uint64_t>(context.bytes, unread_offset_) & unread_bit_) != 0) {
        return {type_, 0, {}, false, true};
    }
    Value value{type_, extended(read_at<uint64_t>(context.bytes, offset_)), {}, false, false};
    if (enum_ != nullptr) value.text = enum_->find(value.bits);
    if (!table_) return value;
    if (auto learnt = context.tables.find(*table_, context.pid, value.bits)) return *learnt;
    return value;
}

Value ValueReader::read(const ValueContext& context) const {
    switch (type_->kind) {
    case Kind::signed_int:
    case Kind::unsigned_int:
    case Kind::hex:
    case Kind::boolean:
    case Kind::enumeration:
    case Kind::character:
    case Kind::floating: return read_number(context);
    case Kind::text:
    case Kind::comm: {
        std::string_view text = text_at(context.bytes, offset_, size_);
        if (text == kUnread) return {type_, 0, {}, false, true};
        if (type_->demangle) text = context.names.of(text);
        return {type_, 0, text, false, false};
    }
    case Kind::function: return {type_, 0, context.probe->function, false, false};
    case Kind::symbol: return {type_, 0, context.probe->symbol, false, false};
    case Kind::list: break;  // its elements are fields of their own
    }
    return {type_, 0, {}, false, true};
}

}  // namespace mlbcc::event
