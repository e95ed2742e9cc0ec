// Which compiler this is:
//
//   {"request":"versions"}
//   -> {"ok":true,"clang":"Debian clang version 14.0.6","libbcc":"0.26.0"}
#pragma once

#include "compiler/reply.h"

namespace mlbcc::compiler {

Reply tell_versions();

}  // namespace mlbcc::compiler
