// Libraries that come while the trace runs: a program opens one that rules name, and waits until
// its functions are probed.
//
//   start()  watches the places where the rules' libraries would be found
//   next()   a file came: its functions join the plan and are attached
//   let_go() whoever opened it goes on
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/open_guard.h"
#include "load/frontend.h"
#include "load/loader.h"

namespace mlbcc::load {

struct LateArrival {
    std::vector<std::string> notes;       // for the user
    std::optional<host::HeldOpen> held;   // none where nobody waits
    std::optional<files::FileId> traced;  // from now on
};

class LateLibraries {
public:
    // None where nothing can come. `frontend` must outlive it.
    static Result<std::optional<LateLibraries>> start(Frontend& frontend);

    int fd() const { return guard_.fd(); }
    bool is_alive() const { return guard_.is_alive(); }
    // Whole ones that are watched for libraries in any folder.
    int file_systems() const { return file_systems_; }
    // The next file that came; it is in the plan and attached when this returns.
    std::optional<LateArrival> next(Loaded& loaded);
    void let_go(const LateArrival& arrival);
    bool has_traced(uint64_t inode) const;
    std::vector<std::string> never_came() const;  // libraries, as messages name them

private:
    struct Awaited {
        const target::SoughtLibrary* library = nullptr;
        bool came = false;
    };

    LateLibraries(Frontend& frontend, host::OpenGuard guard)
        : frontend_(&frontend), guard_(std::move(guard)) {}
    Result<void> watch();
    Result<void> watch(const target::SoughtLibrary& library, const target::LibraryName& name,
                       bool in_folders);
    void look_again();
    void take(const std::string& path, Loaded& loaded, LateArrival& arrival);
    Result<Attached> attach(Loaded& loaded, size_t first) const;
    void mark_as_come(const host::SeenFile& file);

    Frontend* frontend_;
    host::OpenGuard guard_;
    std::vector<Awaited> awaited_;
    std::vector<std::string> found_;  // while the watch was being set up
    std::set<files::FileId> traced_;
    int file_systems_ = 0;
};

}  // namespace mlbcc::load
