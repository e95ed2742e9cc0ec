// Names that rustc gives functions in object files -> as people write them.
//
//   _ZN5alloc3vec12Vec$LT$T$GT$4push17h0123456789abcdefE      "alloc::vec::Vec<T>::push"
//   _RNvMs_NtCs1234_5alloc3vecINtB4_3VechE4push               "<alloc::vec::Vec<u8>>::push"
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mlbcc {

// The older form, which looks like C++: its last part is a hash. Nullopt if `name` is not of it.
std::optional<std::string> legacy_rust_name(std::string_view name);
// RFC 2603. Nullopt if `name` is not of it, or is absurdly long or deep.
std::optional<std::string> rust_name(std::string_view name);
// Either.
std::optional<std::string> any_rust_name(std::string_view name);

}  // namespace mlbcc
