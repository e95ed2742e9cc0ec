#include "text/rust_names.h"

#include <libiberty/demangle.h>

#include <utility>

namespace mlbcc {
namespace {

constexpr size_t kLongest = 1 << 16;  // bytes of a name

struct TooLong {};

void add(const char* text, size_t size, void* name) {
    auto& all = *static_cast<std::string*>(name);
    if (all.size() + size > kLongest) throw TooLong{};
    all.append(text, size);
}

}  // namespace

// Back references let a symbol of 200 bytes stand for a name of gigabytes: it ends in `add`. An
// exception is the only way to stop libiberty.
std::optional<std::string> rust_name(std::string_view symbol) {
    if (!symbol.starts_with("_R") && !symbol.starts_with("_ZN")) return std::nullopt;
    std::string name;
    try {
        const int made = rust_demangle_callback(std::string(symbol).c_str(), 0, add, &name);
        return made == 0 || name.empty() ? std::nullopt : std::optional(std::move(name));
    } catch (const TooLong&) {
        return std::nullopt;
    }
}

}  // namespace mlbcc
