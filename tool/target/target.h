// From names to places: a rule's `cuda:cu*` becomes the real functions of a real library, each
// once.
//
//   on cuda:cuMemAlloc     ->  Probe {UserFunction {/usr/lib/.../libcuda.so.1, cuMemAlloc_v2,
//   +0x3f20}}
//
// Pure: the machine is seen only through Host, which tests replace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "rules/rules.h"
#include "rules/types.h"

namespace mlbcc::target {

struct Symbol {
    std::string name;
    uint64_t offset = 0;  // in the file, bytes: what the kernel attaches by
    uint64_t size = 0;    // bytes, 0 if unknown
};

struct Symbols {
    std::vector<Symbol> functions;    // defined STT_FUNC, dynamic and static; no IFUNCs, no data
    std::string machine;              // "x86_64", "aarch64"
    std::vector<std::string> ifuncs;  // left out; sorted, each once
};

// What a search for a library found. `searched` is for the message when `paths` is empty.
struct LibrarySearch {
    std::vector<std::string> paths;     // absolute, real files, each once
    std::vector<std::string> searched;  // "/etc/ld.so.cache", "/opt/lib (LD_LIBRARY_PATH)", ...
    std::vector<std::string> similar;   // sonames that the machine does have, for the message
};

class Host {
public:
    virtual ~Host() = default;
    // `name`: a soname ("libcuda.so.1"), a path (with a `/`; relative to `directory` where it
    // starts with `.`), or a glob of either.
    virtual LibrarySearch find_library(std::string_view name, std::string_view directory) = 0;
    virtual Result<Symbols> symbols(const std::string& path) = 0;
    // `size` bytes of the file at `offset`; fewer at its end.
    virtual Result<std::vector<std::byte>> read(const std::string& path, uint64_t offset,
                                                size_t size) = 0;
    virtual std::string architecture() = 0;  // "x86_64", "aarch64"
};

struct UserFunction {
    std::string path;                  // of the file that holds it
    std::string soname;                // for display: the last component of what the rule names, or
                                       // of the path where that is a glob
    std::string symbol;                // the form: cuMemAlloc_v2
    std::string base;                  // the name without variants: cuMemAlloc
    std::vector<std::string> aliases;  // other names at the same address
    uint64_t offset = 0, size = 0;     // in the file, bytes
};
using AttachPoint = std::variant<UserFunction>;

// One rule's interest in one function. `exactness` orders rules that disagree: a name without
// wildcards beats one with, then more literal characters, then the later rule.
struct RuleUse {
    const rules::Rule* rule = nullptr;
    const rules::FunctionTarget* target = nullptr;
    uint32_t exactness = 0;
};

struct Probe {
    AttachPoint at;
    const rules::Signature* signature = nullptr;  // null: no prototype known
    std::vector<RuleUse> uses;                    // sorted, weakest first: later ones win
};

// Each real function that some rule wants, sorted by path and offset. A target that matches nothing
// is an error (a note if its rule is `optional`) with the nearest names the library does have.
std::vector<Probe> resolve(const rules::RuleSet& rules, const rules::TypeTable& types, Host& host,
                           Diagnostics& diagnostics);

// cuMemcpyHtoDAsync_v2_ptsz -> cuMemcpyHtoDAsync, for variants {_v2, _ptsz}.
std::string base_name(std::string_view symbol, const std::vector<std::string>& variants);

// The prototype of a form: its own, else that of the form with one suffix less, and so on down to
// the base name (cuGraphAddNode_v2_ptsz, cuGraphAddNode_v2, cuGraphAddNode); else that of the
// base's highest form.
const rules::Signature* find_signature(const rules::TypeTable& types, std::string_view symbol,
                                       const std::vector<std::string>& variants);

}  // namespace mlbcc::target
