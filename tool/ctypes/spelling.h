// How a type is called: as it is written, without the qualifiers of the value itself.
//
//   const size_t          ->  size_t
//   const char *const     ->  const char *
//   struct (unnamed at /usr/include/x.h:12:3)  ->  struct (unnamed)      for display only
#pragma once

#include <clang-c/Index.h>

#include <string>

namespace mlbcc::ctypes {

std::string type_spelling(CXType type);
// Without the places that tell unnamed types apart.
std::string shown_spelling(const std::string& spelling);

struct TypedefFlags {
    bool address = false;  // a name on the way to the type ends in `ptr`: CUdeviceptr, uintptr_t
    bool bytes = false;    // it is size_t or ssize_t
};
TypedefFlags typedef_flags(CXType type);

}  // namespace mlbcc::ctypes
