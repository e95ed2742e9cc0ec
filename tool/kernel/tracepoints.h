// What tracefs says of the kernel's tracepoints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/target.h"

namespace mlbcc::kernel {

// "sched:sched_switch", ...; sorted. `tracefs`: the folder (mounts.h).
Result<std::vector<std::string>> list_tracepoints(const std::string& tracefs);
Result<target::TracepointFormat>
read_tracepoint(const std::string& tracefs, const std::string& category, const std::string& name);
// The text of a format file. Lines that are not understood are left out.
target::TracepointFormat parse_format(std::string_view text);

}  // namespace mlbcc::kernel
