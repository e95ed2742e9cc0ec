// The lines of a JSONL trace that stand there once: the `meta` line and the `summary` line.
#pragma once

#include <cstdint>
#include <vector>

#include "sink/buffer.h"
#include "sink/layers.h"
#include "sink/sink.h"

namespace mlbcc::sink {

void write_meta_line(Buffer& out, const TraceInfo& info);  // with its newline

// `,"type":"summary","events":6, ...` without the braces: what stands behind `ts`.
void write_summary_members(Buffer& out, const TraceEnd& end, const std::vector<Layer>& layers);

// `,"type":"reload","number":1, ...`, likewise. `layers` are those until now.
void write_reload_members(Buffer& out, const Reload& change, const std::vector<Layer>& layers);

// `,"every_us":100000,"stats":[...],"hists":[...]`: what stands behind `since`.
void write_sums_members(Buffer& out, const Sums& gained);

// Seconds since the trace began, nine decimals: 0.001000000
void write_seconds(Buffer& out, uint64_t time_ns, uint64_t start_ns);

}  // namespace mlbcc::sink
