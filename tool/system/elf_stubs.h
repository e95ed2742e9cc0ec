// The stubs by which a file calls functions that another file might have in the place of its own
// (its procedure linkage table): most of them lead to functions of the file itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mlbcc::system {

// Where in the file the function is that the stub at `offset` jumps to, as long as no other file
// has one of its name. Nullopt: there is no stub, it is another file's function, or the file is not
// for x86-64.
std::optional<uint64_t> behind_stub(const std::string& path, uint64_t offset);

}  // namespace mlbcc::system
