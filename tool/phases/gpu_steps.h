// What repeats in the calls that a program makes of a GPU's driver: steps of a training, tokens of
// a generation. Pure: from calls in the order of time.
//
//   copy wait copy wait save copy wait     ->  steps "copy wait", of which the second was long
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "phases/repetitions.h"

namespace mlbcc::phases {

enum class GpuCallKind {
    start,   // the driver, a context
    load,    // of code
    launch,  // of a kernel; only some are told
    submit,  // a copy, a graph
    wait,    // for the device
};

struct GpuCall {
    GpuCallKind kind{};
    TimeRange time;
    uint32_t tid = 0, name = 0;  // the function, as a number
};

struct GpuSteps {
    // One directly after another, the last to the end of its last call.
    std::vector<TimeRange> steps;
    // So many at the beginning loaded code and took twice as long as the one in the middle, or
    // more: the first run.
    size_t first = 0;
    std::vector<uint32_t> calls;  // of one step: names, in their order
};

// Of the thread that copies and waits most: what lies between one call of a function and the next,
// where most of these stretches hold the same calls. Steps may be of different lengths, and now and
// then hold other calls. Nothing where fewer than four are alike, where they take less than a third
// of the time, or where the thread only submits. `calls` are in the order in which they began;
// those before `from_ns` are no steps.
std::optional<GpuSteps> find_steps(const std::vector<GpuCall>& calls, uint64_t from_ns = 0);

struct SlowStep {
    size_t number = 0;  // counted from 0
    TimeRange time;
};
struct StepTimes {
    uint64_t median_ns = 0, longest_ns = 0;
    // Those that took twice as long as the one in the middle or
    // more, the longest first, until nine tenths of what such steps took longer are told, and
    // those like the last of these; none where all that is less than a hundredth of the time.
    std::vector<SlowStep> slow;
};
StepTimes times_of(const std::vector<TimeRange>& steps);

}  // namespace mlbcc::phases
