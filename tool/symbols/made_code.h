// Names for the code that one program makes at run time, from its perf map (perf_map.h). Runtimes
// write the map as they go, or only when they end; it is found when the process is gone, too.
// Anybody may put something of that name into /tmp: what is not a file of the process's own user is
// left alone.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "symbols/perf_map.h"

namespace mlbcc::symbols {

// Looks again less and less often, so that rubbish addresses stay cheap.
struct Backoff {
    uint32_t failures = 0, next = 0;
    bool may_try();
    void succeeded() { failures = next = 0; }
};

class MadeCode {
public:
    // `proc`: "/proc". `since_ns`: its program began then or later, since 1970;
    // 0: not known. `user`: whose it is, if it has ended before that could be seen.
    struct Owner {
        std::string proc;
        uint32_t pid = 0;
        uint64_t since_ns = 0;
        uint32_t user = 0;
    };
    // "[jit]:main app.js:1+0x6", of the code before a return address, as it was called then.
    std::optional<std::string> describe(const Owner& owner, uint64_t address, uint64_t time_ns);
    // Likewise, of what has been read.
    std::optional<std::string> known(uint64_t address, uint64_t time_ns) const;
    // Reads what was written since. From when on code that had a name has another one; nullopt:
    // none has. `epoch_ns`: since 1970, of the time that is counted from; 0: not known, it is
    // `now_ns`.
    std::optional<uint64_t> renamed(uint64_t epoch_ns, uint64_t now_ns);
    // Its names may come when the process is gone: from the first to the second its root is held.
    void expect(const Owner& owner);
    void read_last(const Owner& owner);

private:
    struct Place {
        std::string path;             // below the process's root
        std::vector<uint32_t> users;  // whose it may be
    };
    static Place place_of(const Owner& owner);
    void read(const Owner& owner);
    void take(Result<UniqueFd> file, const Place& place, uint64_t since_ns);
    bool read_on(const struct stat& status, uint64_t since_ns);

    PerfMap map_;
    UniqueFd file_;         // it was read from
    uint64_t bytes_ = 0;    // so many, whole lines
    bool is_over_ = false;  // its process has ended: what it has is whole
    Backoff backoff_;
    UniqueFd root_;  // of the process, for as long as names are expected
    Place place_;    // then
};

}  // namespace mlbcc::symbols
