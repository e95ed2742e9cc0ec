// A program's instructions as text, each with the line of C that it is from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/line_table.h"
#include "compiler/link.h"
#include "compiler/reply.h"

namespace mlbcc::compiler {

// What numbers in instructions stand for.
struct ListingNames {
    std::map<int, std::string> maps;         // by descriptor
    std::map<int32_t, std::string> commons;  // by the number that calls them
};

std::vector<Listed> listing_of(const std::string& program, const Linked& linked,
                               const LineTable& lines, const ListingNames& names);

}  // namespace mlbcc::compiler
