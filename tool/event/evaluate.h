// Checked expressions, computed by the tracer itself: for what it sees of a process from outside.
// Generated C (codegen/expr.cpp) gives the same numbers: 64 bits, C's signs, 0 where something is
// divided by 0.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "plan/plan.h"

namespace mlbcc::event {

// A process as the tracer saw it at one moment.
struct Look {
    plan::ProbeId probe{};  // an interval
    uint64_t time_ns = 0;   // CLOCK_MONOTONIC
    uint32_t pid = 0, ppid = 0, cpu = 0;
    std::string_view comm;            // at most 15 bytes
    std::span<const int64_t> values;  // one a parameter of the probe's signature
    uint64_t unread = 0;              // bit i: values[i] could not be read
};

struct Number {
    uint64_t bits = 0;
    bool is_signed = false;
    bool unread = false;
};

class Evaluator {
public:
    Evaluator(const rules::TypeTable& types, const Look& look) : types_(types), look_(look) {}

    // Of a value that is no text, or stands for what was learnt for it: then the key.
    Number number(const rules::Typed& value) const;
    std::string_view text(const rules::Typed& value) const;
    // False where something could not be read.
    bool holds(const rules::Typed& condition) const;

private:
    struct Visitor;
    Number converted(Number from, const rules::Typed& value) const;
    Number binary(const rules::BinaryNode& node) const;
    Number compare_text(const rules::BinaryNode& node) const;

    const rules::TypeTable& types_;
    const Look& look_;
};

}  // namespace mlbcc::event
