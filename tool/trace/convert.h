// The subcommand that writes a saved trace in the form of another program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/options.h"

namespace mlbcc::trace {

inline constexpr uint64_t kLeastMaxSize = 64 << 10;  // bytes

struct ConvertOptions {
    ViewFormat to{};
    std::string output;                // file; "" is beside the trace, with the form's ending
    std::optional<uint64_t> max_size;  // bytes of the file, of perfetto
    bool by_duration = false;          // of folded: what a stack weighs
    report::RequestOptions requests;   // of html, from a trace of `serve`
};

// Without convert.output what is read from standard input is written to standard output. Returns
// the exit status.
int run_convert(const std::string& file, const ConvertOptions& convert, Verbosity verbosity);

}  // namespace mlbcc::trace
