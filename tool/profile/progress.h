// What a running job is at, in one line, from the events of rules/profile.rules as they come:
//
//   12 s  loading  holds 512 MiB  reads 120 MiB/s  writes 0 B/s
//
// What it takes for a phase is what can be said at once; the profile at the end may know better.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "phases/file_key.h"
#include "saved/event_fields.h"

namespace mlbcc::profile {

class Progress {
public:
    void add(const saved::EventFields& one);
    // `now_ns`: since the trace began. Rates are of the last second or more.
    std::string text(uint64_t now_ns);
    // The same without the time.
    std::string facts(uint64_t now_ns);

private:
    struct Process {
        uint64_t resident = 0, read = 0, written = 0;  // bytes
    };
    struct Rates {
        uint64_t time_ns = 0;
        uint64_t read = 0, written = 0;  // bytes up to then
        double reads = 0, writes = 0;    // bytes a second before it
    };
    void add_file(const saved::EventFields& one);
    void add_gpu(const saved::EventFields& one);
    void add_process(const saved::EventFields& one);
    std::string phase(uint64_t now_ns) const;

    std::string mark_;
    std::set<phases::FileKey> weights_;
    std::optional<uint64_t> weights_ns_;  // the last time that some were read
    // The driver was called for the first time, code was loaded last, work was handed over last.
    std::optional<uint64_t> gpu_ns_, gpu_load_ns_, gpu_work_ns_;
    std::map<uint32_t, Process> processes_;
    uint64_t read_ = 0, written_ = 0;  // of all, also of those that ended
    Rates rates_;
};

}  // namespace mlbcc::profile
