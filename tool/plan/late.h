// Values that the tracer computes when it reads a record: of fields that the kernel wrote, of what
// was learnt before, of what gauges are now. `kernel[f] == "relu"` is an operator over a look-up by
// a field and a text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "plan/value_type.h"
#include "rules/check.h"

namespace mlbcc::plan {

struct Late;
using LatePtr = std::shared_ptr<const Late>;

struct LateField {  // of the record
    uint32_t field = 0;
};
struct LateNumber {
    uint64_t bits = 0;
};
struct LateText {
    std::string text;
};
struct LateLearnt {
    std::string table;
    LatePtr key;
    rules::LearntAs as{};
};
struct LateNow {
    std::string gauge;
    LatePtr group;  // null: all groups together
};
struct LateFromStart {};  // whether the trace saw the process's program begin
struct LateStack {};      // the record's
struct LateList {         // shown together
    std::vector<LatePtr> elements;
};
struct LateUnread {};  // what no probe can read
struct LateUnary {
    rules::UnaryOp op{};
    LatePtr operand;
};
struct LateBinary {
    rules::BinaryOp op{};
    LatePtr left, right;
    bool is_signed = false;  // both sides are
};
struct LateConditional {
    LatePtr condition, yes, no;
};

struct Late {
    std::variant<LateField, LateNumber, LateText, LateLearnt, LateNow, LateFromStart, LateStack,
                 LateList, LateUnread, LateUnary, LateBinary, LateConditional>
        node;
    ValueType type;
};

}  // namespace mlbcc::plan
