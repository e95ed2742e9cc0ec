// libclang's strings as std::string.
#pragma once

#include <clang-c/CXString.h>

#include <string>

namespace mlbcc::ctypes {

inline std::string text_of(CXString string) {
    const char* text = clang_getCString(string);
    std::string copy = text == nullptr ? "" : text;
    clang_disposeString(string);
    return copy;
}

}  // namespace mlbcc::ctypes
