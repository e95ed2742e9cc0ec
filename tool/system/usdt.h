// The probes that a program or library brings along (SystemTap's <sys/sdt.h>, DTrace's USDT): a nop
// in its code, and a note that says where it is and where its arguments are.
//
//   libpython3.11.so.1.0  ->  python:function__entry at file offset 0xe1f0a,
//                             arguments 8@%rbp 8@%r12 -4@%eax
//
// The format: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "system/usdt_argument.h"

namespace mlbcc::system {

struct UsdtProbe {
    std::string provider, name;  // "python", "function__entry"
    uint64_t address = 0;        // virtual, as the file is laid out now
    uint64_t offset = 0;         // in the file, bytes: where the uprobe goes
    // In the file, bytes: the 2-byte counter that must not be 0 for the probe to be prepared by the
    // program, perf's ref_ctr_offset. 0: it has none.
    uint64_t semaphore = 0;
    std::vector<UsdtArgument> arguments;
};

struct UsdtProbes {
    std::string machine;  // "x86_64", "aarch64", "i386", ...
    // In the order of the file. A name comes again for each place where the compiler put it, with
    // arguments of its own.
    std::vector<UsdtProbe> probes;
    uint32_t broken = 0;  // notes that were left out: cut off, or of no place in the file's code
};

// Any bytes are safe input. Without probes where the file has none, or is for another kind of
// machine than 64-bit x86 or ARM. Errors are those of ElfImage::open().
Result<UsdtProbes> read_usdt(const std::string& path);

}  // namespace mlbcc::system
