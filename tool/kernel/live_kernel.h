// The running kernel's functions and types, read when they are first asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/kernel_btf.h"
#include "kernel/kernel_functions.h"
#include "kernel/kernel_types.h"
#include "target/target.h"

namespace mlbcc::kernel {

class LiveKernel {
public:
    // As target::Host has them.
    Result<target::KernelSearch> find(const std::string& pattern, bool thorough);
    std::vector<std::string> names();
    const rules::Signature* signature(const target::KernelFunction& function,
                                      rules::TypeTable& types);
    Result<uint32_t> offset(const std::string& field);
    // `struct task_struct *`, with what fields of these names lead to. Error: there is no BTF.
    Result<rules::TypeId> task(const KernelTypes::Names& members, rules::TypeTable& types);

private:
    Result<void> read_functions();
    Result<KernelBtf*> btf();
    const KernelFunctions* kallsyms();  // null: cannot be read
    void add_unlisted(const std::string& pattern, std::vector<LiveFunction>& found,
                      target::KernelSearch& search);
    void add_by_address(const LiveFunction& named, target::KernelSearch& search);

    std::optional<KernelFunctions> functions_;  // that ftrace can trace, where it says so
    std::optional<KernelFunctions> kallsyms_;   // all, where the others are from ftrace
    std::optional<KernelBtf> btf_;
    std::optional<KernelTypes> types_;
};

}  // namespace mlbcc::kernel
