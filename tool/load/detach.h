// Takes probes off, all at once. Closing a link waits for the kernel, for 30 to 80 ms; many that
// are closed at one time wait hardly longer than one.
#pragma once

#include <vector>

#include "bpf/kernel.h"

namespace mlbcc::load {

void detach(std::vector<bpf::Attachment> attachments);

}  // namespace mlbcc::load
