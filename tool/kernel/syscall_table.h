// The numbers of system calls, by name and architecture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc::kernel {

// "newfstat", as the kernel's tracepoints have it -> "fstat".
std::string syscall_name(std::string_view kernel_name);
// `architecture`: "x86_64", "aarch64".
std::optional<uint32_t> syscall_number(std::string_view name, std::string_view architecture);
std::vector<std::string> syscall_names(std::string_view architecture);

}  // namespace mlbcc::kernel
