// Rules that change while the trace runs. Their files are looked at, and at a change (or SIGHUP)
// the new ones become programs on a thread of their own: what runs is not disturbed, and stays
// where they have a mistake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/threads.h"
#include "bpf/kernel.h"
#include "files/sources.h"
#include "session/generation.h"
#include "session/options.h"

namespace mlbcc::session {

// Files and how they were; a file counts as changed when it has been left alone for a while.
class WatchedFiles {
public:
    // Besides those of before, where they are to be kept.
    void watch(const std::vector<files::Sources::Source>& files, bool keep);
    // The name of one that has changed; told once for all that have.
    std::optional<std::string> changed(uint64_t now_ns);

private:
    struct File {
        std::string path, known, seen;  // states
    };
    std::vector<File> files_;
    uint64_t next_ns_ = 0;
};

// Rules that are read, planned and in the kernel, where they take nothing yet.
struct Prepared {
    std::unique_ptr<Generation> generation;  // none: a mistake, which has been told
    std::string why;
};

class Reloader {
public:
    // `threads` as for Generation. Both must outlive it.
    Reloader(const TraceOptions& options, const bpf::Map& threads)
        : options_(options), threads_(threads) {}

    void watch(const std::vector<files::Sources::Source>& files) { files_.watch(files, false); }
    void ask(std::string why) { asked_ = std::move(why); }
    // Whether the rules should be read anew, now that nothing else goes on.
    bool is_wanted(uint64_t now_ns);
    // `pids`: the processes whose libraries are looked at. Records go to `on_record`.
    using OnRecord =
        std::function<void(Generation&, uint32_t cpu, std::span<const std::byte> record)>;
    void begin(std::vector<int> pids, OnRecord on_record);
    bool is_preparing() const { return preparing_.valid(); }
    // Nullopt while it is not done.
    std::optional<Prepared> take();

private:
    struct Outcome {
        std::unique_ptr<Generation> generation;
        std::optional<Error> error;
    };
    Outcome prepare(const std::vector<int>& pids, const OnRecord& on_record);
    Result<void> load(Generation& made, const OnRecord& on_record);

    const TraceOptions& options_;
    const bpf::Map& threads_;
    WatchedFiles files_;
    std::string asked_, why_;
    load::Steps steps_{false};
    TaskThread worker_;  // ends after what it has begun
    std::future<Outcome> preparing_;
};

// Records that wait until those of the rules before have been written.
class HeldRecords {
public:
    static constexpr size_t kMaxBytes = size_t{64} << 20;
    void add(uint32_t cpu, std::span<const std::byte> record);
    bool is_full() const { return bytes_.size() >= kMaxBytes; }
    // All of them, in the order in which they came; then it is empty.
    void give(const std::function<void(uint32_t cpu, std::span<const std::byte> record)>& take);

private:
    std::vector<std::byte> bytes_;  // of each its CPU, its size, itself
};

// From the moment from which calls are the new rules' until the old ones have gone.
struct RulesChange {
    std::unique_ptr<Generation> coming;
    std::string why;
    uint64_t since_ns = 0;
    HeldRecords held;           // of those that come
    std::future<void> leaving;  // the probes of the old ones

    // Both sets tell of forks, execs and exits: whether this record does, of a moment since the
    // change, or before it.
    bool tells_of_process(std::span<const std::byte> record, bool since) const;
};

}  // namespace mlbcc::session
