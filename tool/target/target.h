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

#include "base/result.h"
#include "rules/rules.h"
#include "rules/types.h"
#include "target/process_fields.h"
#include "target/stacks.h"
#include "target/usdt.h"
#include "text/diagnostic.h"

namespace mlbcc::target {

struct Symbol {
    std::string name;
    uint64_t offset = 0;  // in the file, bytes: what the kernel attaches by
    uint64_t size = 0;    // bytes, 0 if unknown
    bool exported = false;
    std::string version;  // "GLIBC_2.14", "@GLIBC_2.14" of the one that programs are linked to
};

struct Symbols {
    std::vector<Symbol> functions;    // defined STT_FUNC, dynamic and static; no IFUNCs, no data
    std::string machine;              // "x86_64", "aarch64"
    std::vector<std::string> ifuncs;  // left out; sorted, each once
    StackSigns stacks;
};

// What a search for a library found. `searched` is for the message when `paths` is empty.
struct LibrarySearch {
    std::vector<std::string> paths;     // absolute, real files, each once
    std::vector<std::string> searched;  // "/etc/ld.so.cache", "/opt/lib (LD_LIBRARY_PATH)", ...
    std::vector<std::string> similar;   // sonames that the machine does have, for the message
};

// A field of a tracepoint's record, as its format file describes it.
struct TraceField {
    std::string name, type;  // "filename", "const char *"; "comm", "char[16]"
    uint32_t offset = 0, size = 0;
    bool is_signed = false;
};
struct TracepointFormat {
    uint32_t id = 0;                 // for perf_event_open
    std::vector<TraceField> fields;  // without those that all tracepoints have
};
struct SyscallName {
    std::string name;        // as in its manual page: "fstat"
    uint32_t number = 0;     // on this architecture
    std::string tracepoint;  // "newfstat": the kernel's own name, of sys_enter_newfstat
};

// A function of the kernel or of one of its modules; an AttachPoint, too.
struct KernelFunction {
    std::string symbol;    // what the kernel calls it: nvidia_ioctl.constprop.0
    std::string base;      // without what the compiler appended: nvidia_ioctl
    std::string module;    // "": of the kernel itself
    uint64_t address = 0;  // 0, unless others have the same symbol
};
struct KernelSearch {
    std::vector<KernelFunction> functions;  // that match, by symbol
    std::vector<std::string> blacklisted;   // match, but the kernel allows no probes on them
    std::vector<std::string> ambiguous;  // several have the symbol, and their addresses are hidden
    // Of modules: match, but were built without places for probes, like NVIDIA's resource manager.
    std::vector<KernelFunction> unprobed;
    size_t known = 0;  // functions looked at
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

    // "sched:sched_switch", ... all that this kernel has, sorted.
    virtual Result<std::vector<std::string>> tracepoints() { return Error{"none are known"}; }
    virtual Result<TracepointFormat> tracepoint(const std::string& category,
                                                const std::string& name) {
        return Error{"there is no tracepoint " + category + ":" + name};
    }
    // By number.
    virtual Result<std::vector<SyscallName>> syscalls() { return Error{"none are known"}; }
    // Those whose symbol or base matches the glob. `thorough`: also those that ftrace does not
    // list, which takes some time. Error: this kernel lets none be probed.
    virtual Result<KernelSearch> kernel_functions(const std::string& /*pattern*/,
                                                  bool /*thorough*/) {
        return Error{"none are known"};
    }
    virtual std::vector<std::string> kernel_names() { return {}; }  // bases of all, sorted
    // What the kernel's or the module's type information says of it; null: nothing. Its types go to
    // `types`, always the same.
    virtual const rules::Signature* kernel_signature(const KernelFunction& /*function*/,
                                                     rules::TypeTable& /*types*/) {
        return nullptr;
    }
    // Where "task_struct.pid" is in the running kernel's structure, bytes.
    virtual Result<uint32_t> kernel_offset(const std::string& field) {
        return Error{"nothing is known of " + field};
    }
    // The probes that a program or library brings along.
    virtual Result<UsdtProbes> usdt(const std::string&) { return UsdtProbes{}; }
};

struct UserFunction {
    std::string path;                  // of the file that holds it; "": none is there yet
    std::string soname;                // for display: the last component of what the rule names, or
                                       // of the path where that is a glob
    std::string symbol;                // the form: cuMemAlloc_v2
    std::string base;                  // the name without variants: cuMemAlloc
    std::vector<std::string> aliases;  // other names at the same address
    uint64_t offset = 0, size = 0;     // in the file, bytes
    StackSigns stacks;
};
struct Syscall {
    std::string name;
    uint32_t number = 0;
};
struct Tracepoint {
    std::string category, name;
    uint32_t id = 0;
    std::vector<TraceField> fields;  // one a parameter of the signature
};
struct Defined {  // by a template
    const rules::ProbeDefinition* definition = nullptr;
    std::vector<uint32_t> offsets;  // of ProbeDefinition::offsets, bytes
};
// One place of a probe that a program brings along: the compiler may have put it into several, each
// with arguments of its own.
struct Usdt {
    std::string path, file;  // of the file that has it: "/usr/bin/python3.11", "python3.11"
    UsdtProbe probe;
    uint32_t place = 0, places = 1;  // the first of three: 0, 3
};
// The tracer itself looks at the traced processes, from outside (process_fields.h).
struct Interval {
    uint64_t period_ns = 0;
};
using AttachPoint =
    std::variant<UserFunction, KernelFunction, Syscall, Tracepoint, Defined, Usdt, Interval>;

// One rule's interest in one function. `exactness` orders rules that disagree: a name without
// wildcards beats one with, then more literal characters, then the later rule.
struct RuleUse {
    const rules::Rule* rule = nullptr;
    const rules::FunctionTarget* target = nullptr;  // null where it is none of a library
    uint32_t exactness = 0;
};

// When a probe acts: at the beginning and the end of a call, at a moment, when something that began
// before is over, or likewise, knowing when that began.
enum class Ends { call, moment, completion, timed };

struct Probe {
    AttachPoint at;
    const rules::Signature* signature = nullptr;  // null: no prototype known
    std::vector<RuleUse> uses;                    // sorted, weakest first: later ones win
};

struct LibraryName {
    std::string text;       // a soname, a path or a glob; `$NAME/` at its beginning is a variable
    std::string directory;  // of the rule file that has it
    bool has_folder() const { return text.find('/') != std::string::npos; }
    // A folder of plugins: files may come beside those that are there.
    bool grows() const;
};

// A library that rules name.
struct SoughtLibrary {
    std::string title;               // `libfoo.so.1`, with its backticks
    std::vector<LibraryName> names;  // any of them is it
    bool found = false;              // some file of it is there
    bool optional = false;           // no rule needs it to be there
    bool said = true;                // its absence is worth a word
    bool may_come() const;           // it is not there, or there may be more files of a glob
    bool may_come_anywhere() const;  // it is optional and named without a folder
};

// Functions of a library that no rule wants, for `except` takes them out by a list that says
// something of them (rules::FunctionList::said).
struct LeftOut {
    std::string library;  // UserFunction::soname
    std::string said;
    uint64_t functions = 0;
};

// Each real function that some rule wants, sorted by path and offset, and then what else they want.
// A target that matches nothing is an error (a note if its rule is `optional`) with the nearest
// names that there are. What the kernel says of its own system calls and tracepoints goes to
// `types`, too.
std::vector<Probe> resolve(const rules::RuleSet& rules, rules::TypeTable& types, Host& host,
                           Diagnostics& diagnostics);

// The same where libraries may come later. Those of `optional` rules that are not there are
// expected: the functions that prototypes and rules name stand in for theirs. `libraries`: all that
// rules name. `left_out` gets those of files that are there.
std::vector<Probe> resolve_expecting(const rules::RuleSet& rules, rules::TypeTable& types,
                                     Host& host, Diagnostics& diagnostics,
                                     std::vector<SoughtLibrary>& libraries,
                                     std::vector<LeftOut>& left_out);

// Functions of the libraries that `host` finds; of others nothing is said.
std::vector<Probe> resolve_late(const rules::RuleSet& rules, rules::TypeTable& types, Host& host,
                                Diagnostics& diagnostics, std::vector<LeftOut>& left_out);

// cuMemcpyHtoDAsync_v2_ptsz -> cuMemcpyHtoDAsync, for variants {_v2, _ptsz}.
std::string base_name(std::string_view symbol, const std::vector<std::string>& variants);

// Whether form `a` is the higher one of two forms of a base: by its version number, then the one
// with fewer suffixes (cuMemcpy_v2 is higher than cuMemcpy_v2_ptds).
bool is_higher_form(std::string_view a, std::string_view b);

// Whether a GLOB of a rule means this function of a library without variants.
bool name_matches(const std::string& pattern, const std::string& symbol);

// The prototype of a form: its own, else that of the form with one suffix less, and so on down to
// the base name (cuGraphAddNode_v2_ptsz, cuGraphAddNode_v2, cuGraphAddNode); else that of the
// base's highest form.
const rules::Signature* find_signature(const rules::TypeTable& types, std::string_view symbol,
                                       const std::vector<std::string>& variants);

}  // namespace mlbcc::target
