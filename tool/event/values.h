// One field of a record -> a Value: extended to 64 bits as its type says, named where it is an enum
// or where a name was learnt for it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "event/event.h"
#include "event/record.h"
#include "event/tables.h"
#include "text/cxx_names.h"

namespace mlbcc::event {

class Gauges;

// The constants of one enum type, by value; of two with one value the first declared is shown.
struct EnumNames {
    bool is_signed = false;
    std::vector<std::pair<uint64_t, std::string_view>> constants;
    std::string_view find(uint64_t bits) const;  // "" if there is none
};

// The enum types of a plan, each looked at once.
class EnumTable {
public:
    explicit EnumTable(const rules::TypeTable* types) : types_(types) {}
    const EnumNames* names(rules::TypeId type);

private:
    const rules::TypeTable* types_;
    std::map<rules::TypeId, std::unique_ptr<EnumNames>> known_;
};

// What the value of a field may need besides its bytes.
struct ValueContext {
    std::span<const std::byte> bytes;  // long enough for every field of its layout
    const plan::ProbePlan* probe = nullptr;
    uint32_t pid = 0;
    const Tables& tables;
    CxxNames& names;
    const Gauges* gauges = nullptr;   // null where none is asked for
    symbols::Stack* stack = nullptr;  // the record's; null: none, or it is not known
};

class ValueReader {
public:
    // `field` must outlive the reader.
    ValueReader(const plan::RecordSlot& field, EnumTable& enums, const Tables& tables);
    // A field of a record, which may say that the field's memory could not be read.
    ValueReader(const plan::RecordLayout& layout, uint32_t field, EnumTable& enums,
                const Tables& tables);

    Value read(const ValueContext& context) const;
    uint32_t bytes_needed() const { return stored_ ? offset_ + size_ : 0; }

private:
    Value read_number(const ValueContext& context) const;
    uint64_t extended(uint64_t raw) const;

    const plan::ValueType* type_;
    uint32_t offset_, size_;
    uint8_t unused_bits_ = 0;     // of the 64-bit slot
    uint32_t unread_offset_ = 0;  // of the record's mask
    uint64_t unread_bit_ = 0;     // 0: the record has no mask
    bool sign_extend_ = false, stored_ = true;
    const EnumNames* enum_ = nullptr;
    std::optional<TableId> table_;
};

}  // namespace mlbcc::event
