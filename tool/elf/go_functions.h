// The functions of a Go program by the table that its runtime has of them, `.gopclntab`, which no
// stripping takes away: Go 1.16 and later (src/debug/gosym/pclntab.go, src/runtime/symtab.go). Any
// bytes are safe input.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mlbcc::elf {

struct GoFunction {
    std::string_view name;  // into the table: "main.main", "net/http.(*Server).Serve"
    uint64_t address = 0, size = 0;
};

// `text`: where the program's code begins, for tables that do not say so. None where it is no table
// that is known here.
std::vector<GoFunction> go_functions(std::string_view table, uint64_t text);

}  // namespace mlbcc::elf
