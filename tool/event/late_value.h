// One plan::Late -> its value for a record, at the moment that the record is met in order.
//
// An operand of which nothing is known is 0 or ""; memory that could not be read makes the whole
// unread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "event/gauges.h"
#include "event/tables.h"
#include "event/values.h"

namespace mlbcc::event {

class LateReader {
public:
    // `late` must outlive the reader.
    LateReader(const plan::Late& late, const plan::RecordLayout& layout, EnumTable& enums,
               const Tables& tables, const Gauges& gauges);

    Value read(const ValueContext& context) const;
    bool holds(const ValueContext& context) const;
    // Of a look-up: what is known there; null where nothing is, or the value is no look-up.
    const LearntEntry* entry(const ValueContext& context) const;
    bool is_look_up() const { return std::holds_alternative<LookUp>(node_); }
    bool is_each() const;

private:
    using Child = std::unique_ptr<const LateReader>;
    struct LookUp {
        TableId table{};
        Child key;
        rules::LearntAs as{};
    };
    struct Now {
        uint32_t gauge = 0;
        Child group;
    };
    struct FromStart {};
    struct TakenStack {};
    struct List {
        std::vector<Child> elements;
        mutable std::vector<Value> values;  // those that were read last
    };
    struct Unread {};
    struct Unary {
        rules::UnaryOp op{};
        Child operand;
    };
    struct Binary {
        rules::BinaryOp op{};
        Child left, right;
        bool is_signed = false, is_text = false;
    };
    struct Conditional {
        Child condition, yes, no;
    };
    struct Constant {
        Value value;
    };

    Value look_up(const LookUp& node, const ValueContext& context) const;
    Value unary(const Unary& node, const ValueContext& context) const;
    Value binary(const Binary& node, const ValueContext& context) const;
    Value number(uint64_t bits) const;

    const plan::ValueType* type_;
    const EnumNames* enum_ = nullptr;
    std::variant<ValueReader, Constant, LookUp, Now, FromStart, TakenStack, List, Unread, Unary,
                 Binary, Conditional>
        node_;
};

}  // namespace mlbcc::event
