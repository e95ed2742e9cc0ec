// The machine as target::Host: names of libraries to files, files to functions, as the programs
// that are traced see them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "files/paths.h"
#include "host/library_search.h"
#include "kernel/live_kernel.h"
#include "process/process_view.h"
#include "target/target.h"

namespace mlbcc::host {

class LiveHost final : public target::Host {
public:
    // One view for each program that is traced: view_of_command(), view_of_process(). Without any,
    // libraries are found as a program with an empty environment finds them.
    explicit LiveHost(std::vector<process::ProcessView> views);

    // What any of the programs finds. A file is always given by the same path, however it is named.
    target::LibrarySearch find_library(std::string_view name, std::string_view directory) override;
    // Where any of the programs would find it if it came.
    std::vector<WatchedPlace> places(std::string_view name, std::string_view directory,
                                     bool anywhere = false) const;
    // Files are read once.
    Result<target::Symbols> symbols(const std::string& path) override;
    Result<std::vector<std::byte>> read(const std::string& path, uint64_t offset,
                                        size_t size) override;
    std::string architecture() override;
    Result<std::vector<std::string>> tracepoints() override;
    Result<target::TracepointFormat> tracepoint(const std::string& category,
                                                const std::string& name) override;
    Result<std::vector<target::SyscallName>> syscalls() override;
    Result<target::KernelSearch> kernel_functions(const std::string& pattern,
                                                  bool thorough) override;
    std::vector<std::string> kernel_names() override;
    const rules::Signature* kernel_signature(const target::KernelFunction& function,
                                             rules::TypeTable& types) override;
    Result<uint32_t> kernel_offset(const std::string& field) override;
    // As LiveKernel has it.
    Result<rules::TypeId> kernel_task(const kernel::KernelTypes::Names& members,
                                      rules::TypeTable& types);
    Result<target::UsdtProbes> usdt(const std::string& path) override;

private:
    const std::string& known_path(const std::string& path);

    std::vector<LibrarySearcher> searchers_;
    std::map<files::FileId, std::string> paths_;
    std::map<std::string, target::Symbols> symbols_;  // by path
    struct {
        std::string path;
        UniqueFd file;
        uint64_t size = 0;  // bytes
    } open_;                // what was read last: of a library each function is asked for
    kernel::LiveKernel kernel_;
};

}  // namespace mlbcc::host
