// Which of the traced processes run Python, and how their frames are found: tells the kernel's
// programs (probe_templates/python.bpf.c) and reads the names that they find.
//
// A process is known from its interpreter's first function on where its file was found beforehand:
// next to the command, in PATH, where pyenv keeps them. Else it is known a little later, when the
// kernel's notice of what it mapped has been read.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bpf/kernel.h"
#include "files/paths.h"
#include "process/process_view.h"
#include "python/file.h"
#include "text/tell.h"

namespace mlbcc::python {

// What frames are called: by the end of a file's name and the beginning of a function's. Of two
// files with one name the second has its folder before it, and so has __init__.py.
class PythonFrames {
public:
    std::string name(const codegen::PythonCode& code);  // "app.py:main", "web/app.py:main"

private:
    static constexpr size_t kMostFiles = 1 << 16;
    std::string file(const std::string& path);
    std::unordered_map<std::string, std::string> files_;  // paths, by what they are called
};

class PythonWatch {
public:
    PythonWatch(bpf::LoadedProgram& kernel, Verbosity verbosity)
        : kernel_(kernel), verbosity_(verbosity) {}

    // Watches for the Pythons that `command`, or a program in these folders, may run.
    void prepare(const std::vector<std::string>& command, const std::vector<std::string>& folders);
    void look_at(int pid);  // a process that runs
    void mapped(uint32_t pid, uint64_t start, uint64_t offset, const std::string& path);
    // "app.py:main": of a frame that a record has; nullopt where nothing is known of it.
    std::optional<std::string> name(uint64_t frame);
    std::vector<bpf::Attachment> take_attachments() { return std::exchange(attachments_, {}); }

private:
    void found(uint32_t pid, uint64_t start, uint64_t offset, const std::string& path);
    struct File {
        Result<std::optional<PythonFile>> read;
        bool told = false;  // why it is not supported
    };
    // Null where it is gone.
    File* file(const std::string& path, const std::string& name);
    void watch(const std::string& path);
    void tell_without(uint32_t pid, const std::string& path, const std::string& why) const;
    bool is_traced(uint32_t pid) const;

    bpf::LoadedProgram& kernel_;
    Verbosity verbosity_;
    // Not by path: the same file has one for each container.
    std::map<std::pair<files::FileId, std::filesystem::file_time_type>, File> files_;
    std::set<std::string> gone_;  // paths
    std::vector<bpf::Attachment> attachments_;
    uint32_t cookies_ = 0;
    std::unordered_map<uint64_t, std::string> names_;
    PythonFrames frames_;
};

// Files that may be Pythons, by what lies next to each other in `folders` and where links lead.
std::vector<std::string> likely_pythons(const std::vector<std::string>& folders);

}  // namespace mlbcc::python
