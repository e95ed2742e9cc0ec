// Names for the code that one program makes at run time, from its perf map (perf_map.h). Runtimes
// write the map as they go, or only when they end; it is found when the process is gone, too.
// Anybody may put something of that name into /tmp: what is not a file of the process's own user is
// left alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "event/perf_map.h"

namespace mlbcc::event {

// Looks again less and less often, so that rubbish addresses stay cheap.
struct Backoff {
    uint32_t failures = 0, next = 0;
    bool may_try();
    void succeeded() { failures = next = 0; }
};

class MadeCode {
public:
    // `proc`: the process's folder there. `since_ns`: its program began then or later, since 1970;
    // 0: not known. `user`: whose it is, if it has ended before that could be seen.
    struct Owner {
        std::string proc;
        uint32_t pid = 0;
        uint64_t since_ns = 0;
        uint32_t user = 0;
    };
    // "[jit]:main app.js:1+0x6", of the code before a return address.
    std::optional<std::string> describe(const Owner& owner, uint64_t address);
    // Likewise, of what has been read.
    std::optional<std::string> known(uint64_t address) const;
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
    void take(const Result<UniqueFd>& file, const Place& place, uint64_t since_ns);

    PerfMap map_;
    uint64_t bytes_ = 0;  // of the file, when it was read
    Backoff backoff_;
    UniqueFd root_;  // of the process, for as long as names are expected
    Place place_;    // then
};

}  // namespace mlbcc::event
