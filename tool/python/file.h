// What must be known of a file to find the Python functions of processes that run it: a Python, or
// the library that it is made of -> where its state and its threads' frames are.
//
//   /usr/bin/python3.11 -> 3.11: its state at 0xa5b740, begins at Py_BytesMain, ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codegen/codegen.h"

namespace mlbcc::python {

// "/usr/bin/python3.11", "/opt/lib/libpython3.8.so.1.0"; not "python3-config".
bool may_be_python(std::string_view path);

struct PythonFile {
    codegen::Python python;  // `state` as an address of the file's own
    struct Start {
        uint64_t address = 0, offset = 0;  // the file's own, and in the file
    };
    std::vector<Start> starts;  // functions that an interpreter begins with
};

// Of a Python that cannot be followed, the error says why: "Python 3.7 is not supported (3.8 to
// 3.13 are)". Nullopt where the file is no interpreter: a program that loads libpython.
Result<std::optional<PythonFile>> read_python_file(const std::string& path, std::string_view name);

}  // namespace mlbcc::python
