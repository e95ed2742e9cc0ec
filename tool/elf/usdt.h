// The probes that a program or library brings along (SystemTap's <sys/sdt.h>, DTrace's USDT): a nop
// in its code, and a note that says where it is and where its arguments are.
//
//   libpython3.11.so.1.0  ->  python:function__entry at file offset 0xe1f0a,
//                             arguments 8@%rbp 8@%r12 -4@%eax
//
// The format: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
#pragma once

#include <string>

#include "base/result.h"
#include "elf/usdt_argument.h"

namespace mlbcc::elf {

using target::UsdtProbe;
using target::UsdtProbes;

// Any bytes are safe input. Without probes where the file has none, or is for another kind of
// machine than 64-bit x86 or ARM. Errors are those of ElfImage::open().
Result<UsdtProbes> read_usdt(const std::string& path);

}  // namespace mlbcc::elf
