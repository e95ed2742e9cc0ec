// How C writes a type of the kernel: PTR -> CONST -> INT "char" is "const char *". A value's own
// qualifiers are left out, as rules::CType has it; what has no name is "struct (unnamed)".
#pragma once

#include <cstdint>
#include <string>

#include "kernel/btf_image.h"

namespace mlbcc::kernel {

std::string spelling_of(const BtfImage& image, uint32_t id);

}  // namespace mlbcc::kernel
