// --keep DIR: a folder with all that a bug report needs of a start, whether it went well or not.
// Its README.txt lists the files; a folder that has something else in it is left alone.
//
//   README.txt  command.txt  system.txt  rules/0-my.rules  types/0-pool.h  templates/...
//   messages.txt  plan.txt  program.bpf.c  program.annotated.c  lines.tsv  features.txt
//   compiler.log  verifier.log  refused.txt
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "load/frontend.h"
#include "load/loader.h"
#include "session/options.h"

namespace mlbcc::session {

// The folder, and what was put there. What cannot be written is told on standard error.
class KeepFolder {
public:
    // An Error if it cannot be made, or holds what is not ours. What is kept there from before
    // goes.
    static Result<KeepFolder> open(const std::string& path);
    void add(const std::string& name, const std::string& what, std::string_view text);
    void finish();  // writes README.txt

private:
    explicit KeepFolder(std::string path) : path_(std::move(path)) {}
    void write(const std::string& name, std::string_view text);
    std::string path_;
    std::vector<std::pair<std::string, std::string>> files_;  // name, what it is
};

// Keeps what there is at its end, or when it is told to.
class Keeping {
public:
    // Nothing is kept where the options do not ask for it. They must outlive it.
    Keeping(const TraceOptions& options, const load::Frontend& frontend, const load::Loader& loader)
        : options_(options), frontend_(frontend), loader_(loader) {}
    Keeping(const Keeping&) = delete;
    Keeping& operator=(const Keeping&) = delete;
    ~Keeping();
    int begin();  // the status to exit with, if there is no place for it
    // While the loader still has its program: once.
    void keep();

private:
    void keep_inputs();
    void keep_plan();
    void keep_outcome();

    const TraceOptions& options_;
    const load::Frontend& frontend_;
    const load::Loader& loader_;
    std::vector<KeepFolder> folder_;  // none or one
};

}  // namespace mlbcc::session
