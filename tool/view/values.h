// Values as JSON text.
#pragma once

#include <span>
#include <string_view>

#include "sink/buffer.h"
#include "view/drawn_event.h"
#include "view/spans.h"

namespace mlbcc::view {

void write_json(sink::Buffer& out, const saved::FieldValue& value);
// What is of no interest by itself has no place on a lane: findings of the level `info`.
bool has_mark(const DrawnEvent& record);

std::string_view text_of(Missing missing);  // "" for nothing
void write_list(sink::Buffer& out, std::span<const std::string_view> texts);

// Calls `take` with each argument of a call: those of its beginning, then those of its end.
template <class Take> void each_argument(const Slice& slice, Take&& take) {
    for (const DrawnEvent::Argument& one : slice.call->arguments) take(one);
    if (slice.end == nullptr) return;
    for (const DrawnEvent::Argument& one : slice.end->arguments) take(one);
}
inline const std::optional<saved::FieldValue>& return_of(const Slice& slice) {
    return slice.end == nullptr ? slice.call->ret : slice.end->ret;
}
inline const std::vector<std::string_view>& stack_of(const Slice& slice) {
    bool at_end = slice.end != nullptr && slice.call->stack.empty();
    return at_end ? slice.end->stack : slice.call->stack;
}

}  // namespace mlbcc::view
