// Programs that may sleep, on functions of a file: what they read is in memory for those that run
// behind them.
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "codegen/codegen.h"

namespace mlbcc::bpf {

// copy_from_user(fp - 8, size, r3)
void append_touch(std::vector<bpf_insn>& code, int32_t size);

struct TouchingSite {
    uint64_t offset = 0;  // in the file
    uint64_t cookie = 0, semaphore = 0;
};
// No links where the kernel has none of it, which came with Linux 6.0, and for uprobe_multi
// with 6.6.
std::vector<UniqueFd> attach_touching(const std::string& path, const char* name,
                                      std::span<const bpf_insn> code,
                                      std::span<const TouchingSite> sites,
                                      codegen::AttachMode mode);

}  // namespace mlbcc::bpf
