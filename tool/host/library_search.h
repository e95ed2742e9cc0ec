// Where the name of a library leads: as the dynamic loader of one process looks for a soname, as a
// path, or as a glob of either.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/ld_cache.h"
#include "host/open_guard.h"
#include "process/process_view.h"
#include "target/target.h"

namespace mlbcc::host {

class LibrarySearcher {
public:
    // `machine`: what a file must be built for to be found by soname.
    LibrarySearcher(process::ProcessView view, std::string machine);

    // Canonical paths, of which several may be one file.
    target::LibrarySearch find(std::string_view written, std::string_view directory);

    // Where a file would be found by that name if it came. Folders of the system only as far as
    // they are there. `anywhere`: one that is named without a folder, in any.
    std::vector<WatchedPlace> places(std::string_view written, std::string_view directory,
                                     bool anywhere) const;

private:
    using Found = target::LibrarySearch;
    struct MappedFile {
        std::string path, name, soname;
    };

    std::vector<WatchedPlace> places_of_path(std::string_view path,
                                             std::string_view directory) const;
    void find_path(std::string_view path, std::string_view directory, Found& found) const;
    void add_running(const std::string& full, Found& found) const;
    // The places of a soname, in the loader's order: the first that has it is taken. A glob takes
    // what it matches in all of them.
    void find_soname(std::string_view name, Found& found);
    void find_mapped(std::string_view name, Found& found);
    void find_in_folder(const std::string& folder, std::string_view name, std::string_view why,
                        Found& found) const;
    void find_in_cache(std::string_view name, Found& found);
    void find_program(std::string_view name, Found& found) const;
    void add_if_usable(const std::string& path, Found& found) const;
    std::string shortest_path(const std::string& path) const;
    void add_similar(std::string_view name, Found& found);

    const std::vector<elf::CachedLibrary>& cache();
    const std::vector<MappedFile>& mapped_files();
    std::vector<std::string> default_folders() const;

    process::ProcessView view_;
    std::string machine_;
    std::optional<std::vector<elf::CachedLibrary>> cache_;
    std::optional<std::vector<MappedFile>> mapped_files_;
};

}  // namespace mlbcc::host
