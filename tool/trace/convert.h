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
    std::optional<uint64_t> max_size;  // bytes of the file, of perfetto
};

// Writes to options.output; without one to a file of the trace's name with the form's ending, and
// of standard input to standard output. Returns the exit status.
int run_convert(const std::string& file, const ConvertOptions& convert,
                const TraceOptions& options);

}  // namespace mlbcc::trace
