// The files that say what a start does: rules, headers, templates. Each must be one that may be
// trusted (trusted_files.h). Where they are watched, each is known by its state as it was read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "files/trusted_files.h"

namespace mlbcc::files {

class Sources {
public:
    struct Source {
        std::string path, state;  // file_state(), as it was read
    };
    explicit Sources(bool watched) : watched_(watched) {}

    Result<std::string> read(const std::string& path, size_t max_bytes);
    // A file that another program reads, or each file below a folder.
    Result<void> admit(const std::string& path);
    Result<void> admit_tree(const std::string& folder) const { return trusted_.admit_tree(folder); }
    // Whether all files must be named, also those that another program finds by itself.
    bool asks() const { return watched_ || trusted_.asks(); }
    const std::vector<Source>& watched() const { return sources_; }

private:
    void note(const std::string& path);

    TrustedFiles trusted_ = TrustedFiles::current();
    bool watched_;
    std::vector<Source> sources_;
};

}  // namespace mlbcc::files
