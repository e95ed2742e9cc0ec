// What the running kernel and its modules say of their own functions and structs: /sys/kernel/btf.
//
//   vfs_read         ->  FUNC 119848 of vmlinux
//   task_struct.pid  ->  byte 2488, 4 bytes
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/btf_image.h"
#include "kernel/btf_members.h"

namespace mlbcc::kernel {

class KernelBtf {
public:
    // Maps vmlinux's types and finds where each begins: 1 ms where it can be mapped (Linux 6.18).
    // `folder` differs in tests only.
    static Result<KernelBtf> open(const std::string& folder = "/sys/kernel/btf");

    // Of a module (its name with `_`, as in /sys/module), or of vmlinux: "". It stays where it is.
    // Modules are opened when they are first asked for. Error: the module was built without BTF, or
    // is not loaded.
    Result<BtfImage*> image(const std::string& module);

    struct Function {
        const BtfImage* image = nullptr;
        uint32_t id = 0;     // of the FUNC: what a kfunc is called by, too
        uint32_t proto = 0;  // of its FUNC_PROTO
    };
    // `name` without what gcc appends. Error: there is none, or there is no BTF.
    Result<Function> function(const std::string& module, const std::string& name);

    struct Type {
        const BtfImage* image = nullptr;
        uint32_t id = 0;
    };
    // A struct, union or typedef of vmlinux or else of `module`; the first, if several differ.
    Result<Type> type(const std::string& name, const std::string& module = "");

    // "task_struct.pid", "file.f_path.dentry": members of members too, but nothing is read through
    // a pointer. Members of anonymous structs are found by their name.
    Result<KernelField> field(std::string_view path, const std::string& module = "");

private:
    KernelBtf() = default;

    std::string folder_;
    std::map<std::string, std::unique_ptr<BtfImage>> images_;  // by module
};

}  // namespace mlbcc::kernel
