// Any bytes as the C types that mlbcc-bcc sends.
#include <cstddef>
#include <cstdint>

#include "rules/ctypes.h"

using namespace mlbcc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    rules::RuleSet rules;
    rules.files.push_back(std::make_unique<SourceFile>("a", "int f(int a);\n"));
    Diagnostics diagnostics;
    std::string_view json(reinterpret_cast<const char*>(data), size);
    auto table = rules::read_types(json, rules, diagnostics);
    if (table.ok()) (void)table->constant_names();
    (void)diagnostics.render();
    return 0;
}
