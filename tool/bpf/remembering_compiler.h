// The helper, and what it answered before: a question that was asked once is answered from a cache,
// and while nothing new is asked no helper runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_cache.h"
#include "bpf/compiler.h"

namespace mlbcc::bpf {

class RememberingCompiler {
public:
    // `helper`: path of mlbcc-bcc. `versions`: what else its answers depend on, in any words: the
    // tool, libbcc, the kernel.
    RememberingCompiler(std::string helper, FileCache cache, std::string versions);

    // Starts the helper, if `likely` says nothing of this start: it is else started when it is
    // needed. `likely` is any text by which such a start is known again, as its rule files.
    Result<void> start_unless_known(const std::string& likely);
    // The last compile request is what such a start asks for.
    void remember_start(const std::string& likely);
    // Bytes of the bundle that it will probably ask for.
    std::optional<std::string> expected() const;

    // An answer is dropped when a file that it was made from has changed.
    Result<std::string> types(TypesRequest request);
    Result<std::vector<EntryChoice>> entries(const std::string& architecture,
                                             std::span<const FunctionCode> functions);

    // What the request would give, if it was compiled before with the same files in its kernel_dir:
    // whether it is what was expected ...
    bool is_expected(const CompileRequest& request);
    // ... and, after that, the bytes of its bundle.
    std::optional<std::string> compiled_before() const;
    Result<void> send_compile(CompileRequest request);
    Result<CompileResult> receive_compile();
    void kill();
    // For questions that nobody asks twice.
    Result<CompilerProcess> another() const { return CompilerProcess::start(path_); }

private:
    std::string question(const char* kind, const std::string& text) const;
    std::optional<std::string> compile_question(const CompileRequest& request) const;
    Result<void> need_helper();

    std::string path_;
    FileCache cache_;
    std::string versions_;
    std::optional<CompilerProcess> helper_;
    std::optional<std::string> expected_, compiling_;  // questions
};

}  // namespace mlbcc::bpf
