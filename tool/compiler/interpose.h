// Functions of libbcc and LLVM that this program replaces: the dynamic linker prefers an
// executable's own (they are exported by name in CMakeLists.txt).
//   bcc_procutils_each_ksym  libbcc walks all of /proc/kallsyms (120 000 lines, 150 ms) only to
//                            learn whether bpf_probe_read_kernel exists; it does since Linux 5.5
//   bcc_create_map_xattr     compiling creates the program's maps; without loading, none is wanted,
//                            nor the right to make one needed
//   PassManagerBuilder::populateModulePassManager
//                            libbcc optimises at level 3: 40 passes too many for programs of a
//                            few hundred instructions, for a third of the time
#pragma once

namespace mlbcc::compiler {

// While one lives, libbcc is given descriptors that are no maps.
class PretendedMaps {
public:
    explicit PretendedMaps(bool pretend);
    PretendedMaps(const PretendedMaps&) = delete;
    PretendedMaps& operator=(const PretendedMaps&) = delete;
    ~PretendedMaps();
};

}  // namespace mlbcc::compiler
