// Who is traced: puts processes into the kernel's filter and takes those out that have ended. Forks
// are followed in the kernel itself (probe_templates/follow.bpf.c).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "bpf/kernel.h"
#include "event/record.h"

namespace mlbcc::session {

class Follower {
public:
    // `loaded` may be filled later, before the first call.
    Follower(bpf::LoadedProgram& loaded, bool everyone) : loaded_(loaded), everyone_(everyone) {}

    Result<void> add(int pid);  // with its threads
    // With their children, `look` at each before and after. Those that ended meanwhile; an error
    // where all did.
    Result<std::vector<int>> add_all(const std::vector<int>& pids,
                                     const std::function<void(int)>& look);
    Result<void> arm();                              // nothing is recorded before
    uint64_t armed_ns() const { return armed_ns_; }  // when that was, CLOCK_MONOTONIC
    void disarm();
    // Whoever `other` follows, from now on both; this one's programs are in place.
    Result<void> join(const Follower& other);
    // Takes those out that had ended unnoticed when this joined.
    void forget_ended();
    // What becomes of calls that begin, of functions (codegen::kFunctions) or others; the number of
    // a change of rules (kChange), of which both must know before.
    Result<void> set(uint32_t what, uint32_t value);
    Result<void> set(uint32_t what, codegen::Control how) {
        return set(what, static_cast<uint32_t>(how));
    }

    // A process record: of those that tell of an exit it keeps a note.
    void look_at(const event::Record& record);
    // Takes processes out that have ended; call it every sweep.
    void clean_up();
    bool follows_all() const { return everyone_; }
    // Who is traced now, as far as this is known; some may be about to end.
    std::vector<int> processes();
    // Of the processes that were added, how many still run.
    size_t running_roots() const;
    // Whether this process may, and sees what it must, with the rights that it has.
    bool reads_maps() const;
    bool sees_roots() const { return running_roots() == roots_.size(); }

private:
    struct Ending {
        uint32_t pid = 0, kernel_pid = 0;
    };
    Result<void> join(const Follower& other, const char* map, size_t& added);
    Result<void> suspect(uint32_t pid);

    bpf::LoadedProgram& loaded_;
    bool everyone_;
    uint64_t armed_ns_ = 0;
    std::vector<int> roots_;
    std::vector<int> children_;  // that /proc tells of, in a pid namespace
    std::vector<Ending> ending_;
};

}  // namespace mlbcc::session
