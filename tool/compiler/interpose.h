// Functions of libbcc and LLVM that this program replaces: the dynamic linker prefers an
// executable's own (they are exported by name in CMakeLists.txt).
//   bcc_procutils_each_ksym  libbcc walks all of /proc/kallsyms (120 000 lines, 150 ms) only to
//                            learn whether bpf_probe_read_kernel exists; it does since Linux 5.5
//   bcc_create_map_xattr     compiling creates the program's maps; those that exist already are
//   taken
//                            instead, and without loading none is made, nor the right to needed
//   ebpf::BTF::load          gives debug information to the kernel: here it becomes a LineTable
//   open, open64             LLVM opens whatever is included: a device, or a pipe nobody writes to
//   PassManagerBuilder::populateModulePassManager
//                            libbcc optimises at level 3: 40 passes too many for programs of a
//                            few hundred instructions, for a third of the time
#pragma once

#include <map>
#include <string>

#include "base/unique_fd.h"
#include "compiler/line_table.h"

namespace mlbcc::compiler {

// While one lives, libbcc is given these maps where it would create maps of these names; or, to
// pretend, only descriptors that are no maps.
class MapSource {
public:
    MapSource(const std::map<std::string, UniqueFd>& existing, bool pretend);
    MapSource(const MapSource&) = delete;
    MapSource& operator=(const MapSource&) = delete;
    ~MapSource();
    int descriptor(const char* name) const;  // a new one; -1 where libbcc shall create the map

private:
    const std::map<std::string, UniqueFd>& existing_;
    bool pretend_;
};

// While one lives, LLVM opens regular files and folders only; all else is ENXIO, and what is larger
// than any header EFBIG.
class PlainFiles {
public:
    PlainFiles();
    PlainFiles(const PlainFiles&) = delete;
    PlainFiles& operator=(const PlainFiles&) = delete;
    ~PlainFiles();
};

// While one lives, the lines of what is compiled with debug information are kept in it.
class LineKeeper {
public:
    LineKeeper();
    LineKeeper(const LineKeeper&) = delete;
    LineKeeper& operator=(const LineKeeper&) = delete;
    ~LineKeeper();
    LineTable lines;
};

}  // namespace mlbcc::compiler
