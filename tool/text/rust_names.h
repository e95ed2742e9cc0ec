// Names that rustc gives functions in object files -> as people write them.
//
//   _ZN5alloc3vec12Vec$LT$T$GT$4push17h0123456789abcdefE      "alloc::vec::Vec<T>::push"
//   _RNvMs_NtCs1234_5alloc3vecINtB4_3VechE4push               "<alloc::vec::Vec<u8>>::push"
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mlbcc {

// Of RFC 2603, or of the older form, which looks like C++: its last part is a hash, which is left
// out. Nullopt if `symbol` is of neither, or stands for an absurdly long name.
std::optional<std::string> rust_name(std::string_view symbol);

}  // namespace mlbcc
