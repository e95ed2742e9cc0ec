// The end of a trace as text for a terminal, grouped by layer:
//
//   === TRACE SUMMARY ===  1.50 s, 1 process, 3 threads, 12 480 events, 0 lost
//
//   USERSPACE (libcuda.so.1)
//     Kernel launches              42
//     Total memory allocated      500.00 MiB in 15 calls; 0 B still held
//     slowest: cuCtxCreate 81.2 ms, ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sink/layers.h"
#include "sink/rows.h"
#include "sink/sink.h"

namespace mlbcc::sink {

// Of the terminal that `fd` is, within what the summary is readable at; 100 if it is none.
size_t terminal_width(int fd);
constexpr size_t kShownGroups = 10;  // of one clause

// It is a terminal that has colours (TERM is not `dumb`), and NO_COLOR (https://no-color.org) is
// not set.
bool wants_color(int fd);
// Titles and headings of a report stand out where `fd` wants colours (sink/emphasis.h).
std::string as_shown_on(int fd, std::string_view text);

// `width`: of the terminal, characters; at least 80 is assumed.
std::string summary_text(const TraceEnd& end, uint64_t start_ns, const std::vector<Layer>& layers,
                         size_t width);

// Counts, sums and histograms of the rules of one layer; gauges; what is still held.
void add_metrics(Rows& rows, const MetricSnapshot& metrics, const std::vector<std::string>& rules);
// `behind`: what is said of all groups, behind their numbers.
void add_hist(Rows& rows, const std::vector<const Hist*>& groups, const std::string& behind);
// At most so large are this share of the values, as far as their buckets tell.
uint64_t bound_of(const Hist& hist, double share);
// The largest of one list, as a table.
void add_largest(Rows& rows, const LargestOnes& list);
// Where what gauges of one name still hold came from, the most first.
void add_held(Rows& rows, const std::vector<const Gauge*>& gauges);

// "; 16 % of its records were lost", or "".
std::string lost_text(const Lost& lost);
// ", own 1.20 ms": of durations that have others of their clause within them. Empty of all else.
std::string own_text(const std::optional<uint64_t>& own, uint64_t whole);
// What is not known of one is not known of both.
void add_own(std::optional<uint64_t>& sum, const std::optional<uint64_t>& one);

// A row of a group; below it, of a stack, the frames.
void add_group(Rows& rows, const Group& by, Number number, const std::string& behind);
std::string group_label(const Group& by);  // {"function": "\"cuInit\"", "cpu": "1"} -> "cuInit, 1"

}  // namespace mlbcc::sink
