// Which line of C each instruction is from: the line table of the BTF that clang makes with debug
// information (linux/Documentation/bpf/btf.rst, section 4: .BTF and .BTF.ext).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mlbcc::compiler {

class LineTable {
public:
    LineTable() = default;
    // Of the contents of the two sections; what is cut short is left out.
    LineTable(std::span<const uint8_t> btf, std::span<const uint8_t> ext);
    // Of the instruction in this place of a function, from 0; 0: not known.
    uint32_t line(const std::string& function, uint32_t instruction) const;

private:
    struct Entry {
        uint32_t instruction = 0, line = 0;
    };
    std::map<std::string, std::vector<Entry>> functions_;  // in order
};

}  // namespace mlbcc::compiler
