// Times and sizes as the command line has them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace mlbcc {

// "5s", "250ms", "1.5" (seconds)
std::optional<std::chrono::nanoseconds> parse_duration(const std::string& text);
// "16MiB", "512K", "1048576"; up to 4 GiB
std::optional<size_t> parse_size(const std::string& text);
// "1/10": 10
std::optional<uint64_t> parse_sample(const std::string& text);

}  // namespace mlbcc
