// A header tree from the running kernel's BTF, that any tool made with BCC can be given
// (BCC_KERNEL_SOURCE), or that /lib/modules/RELEASE/build can lead to.
#pragma once

#include <string>

#include "base/result.h"

namespace mlbcc::commands {

// `folder`: a new or an empty one. `templates`: of --templates, or "". Error: there is no BTF, it
// is not empty, or cannot be written.
Result<void> synthesize_headers(const std::string& folder, const std::string& templates);

}  // namespace mlbcc::commands
