// The phases of a job, each with what shows where it begins: start-up, loading of a model,
// warm-up, inference, cleanup; or those that the program itself marks. From the events of
// rules/profile_phases.rules, and those of files, processes and memory:
//
//   file.open, file.read, file.map, file.format   weights are read: by name, or by how they begin
//   memory.map, memory.unmap                      large blocks: what repeats; frees at the end
//   phase.mark   text                             the program says so
//   process.memory   cpu_time, read_chars, ...    what each phase used
//   gpu_load, gpu_copy, gpu_wait, ...             a first run, and what repeats (gpu_phases.h)
//
// What nothing shows is left out: a job without weights, marks and a GPU is one phase.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "phases/file_key.h"
#include "phases/gpu_calls.h"
#include "phases/phase_use.h"
#include "phases/repetitions.h"
#include "saved/event_fields.h"
#include "sink/json_writer.h"

namespace mlbcc::phases {

// What a process did in a phase.
struct PhaseWork {
    size_t python_files = 0, cache_files = 0;  // opened; caches: of compiled kernels
    GpuCalls::Loads loads;                     // of code, into the GPU
};

struct Phase {
    // "start_up", "loading", "warm_up", "inference", "cleanup"; "import", "first_run", "steps",
    // "end"; "run"; a mark's
    std::string name;
    TimeRange time;
    std::string begin_evidence, end_evidence;  // sentences
    PhaseWork work;
    std::optional<PhaseUse> use;  // nothing where no look was
};

// How the repetitions of a process went.
struct StepReport {
    uint32_t pid = 0;
    TimeRange time;
    size_t count = 0;
    StepTimes times;
    double per_second() const;
};

struct PhaseReport {
    uint32_t pid = 0;           // whose phases they are; 0: of none
    std::vector<Phase> phases;  // one after another, without gaps
    std::vector<TimeRange> repetitions;
    std::string repetition_evidence;  // what repeats, or that nothing is seen to
    std::optional<StepReport> steps;
    std::vector<StepReport> other_steps;  // of other processes that work on a GPU
    std::optional<MemoryGrowth> growth;

    // Ends the phase before it.
    void begin(std::string name, uint64_t time_ns, std::string evidence);
    const Phase* at(uint64_t time_ns) const;  // null before the first and after the last
};

class Phases {
public:
    void add(const saved::EventFields& one);
    // `end_ns`: of the trace. `launches_ns`: nothing was launched on a GPU before, as far as that
    // is known; steps begin later.
    PhaseReport report(uint64_t end_ns, uint64_t launches_ns = 0) const;

private:
    struct File {
        std::string path, format;  // format "": not known
        uint64_t size = 0;
        bool is_weights() const;
    };
    struct Reading {  // of a file, by a process
        uint64_t open_ns = 0, first_ns = 0, last_ns = 0, bytes = 0;
        bool is_mapped = false;
    };
    struct Mark {
        uint64_t time_ns = 0;
        std::string name;
    };
    struct Process {
        std::optional<uint64_t> begin_ns, end_ns;
        std::map<FileKey, Reading> readings;
        std::map<uint64_t, int64_t> blocks;  // by address, bytes
        std::vector<MemoryMove> moves;
        bool lost_moves = false;  // there were too many
        std::vector<Mark> marks;
        LookHistory looks;
        GpuCalls gpu;
        std::vector<std::string> arguments;  // of the program that runs, or is asked for
        std::optional<uint64_t> script_ns;   // when Python opened its script
        std::vector<uint64_t> python_files, cache_files;  // when they were opened
    };
    struct Loading {
        TimeRange time;
        std::string first, last;  // evidence
    };

    void add_file(const saved::EventFields& one);
    static void add_open(Process& process, const saved::EventFields& one);
    static void add_program(Process& process, const saved::EventFields& one);
    static void add_block(Process& process, const saved::EventFields& one);
    static void add_mark(Process& process, const saved::EventFields& one);
    uint64_t weights_read(const Process& process) const;
    std::optional<Loading> loading_of(const Process& process) const;
    std::pair<uint32_t, const Process*> whose() const;
    static void cut_by_marks(const Process& process, TimeRange life, PhaseReport& report);
    // These take the time before which nothing was launched.
    void cut_by_weights(const Process& process, const Loading& loading, TimeRange life,
                        uint64_t launches_ns, PhaseReport& report) const;
    void cut(const Process& process, TimeRange life, uint64_t launches_ns,
             PhaseReport& report) const;
    void add_others(uint64_t launches_ns, PhaseReport& report) const;

    std::map<FileKey, File> files_;
    std::map<uint32_t, Process> processes_;
    std::optional<uint32_t> first_;
};

void add_members(sink::JsonWriter& json, const Phase& phase);
void add_members(sink::JsonWriter& json, const StepReport& steps);

}  // namespace mlbcc::phases
