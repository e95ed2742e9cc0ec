// The processes of a job: who started whom, what each ran, when it began and how it ended, and what
// it used. From the events of rules/profile_process.rules:
//
//   process.command  path, arg0..    a program is asked for
//   process.exec     path, parent, peak_before          it runs
//   process.clone    child                              a process or thread is made
//   process.memory   peak                               looks at it (rules/profile_memory.rules)
//   process.exit     status, signal, age, cpu, peak_resident, parent     of each thread
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/section.h"
#include "saved/event_fields.h"

namespace mlbcc::profile {

struct ProgramRun {
    uint64_t time_ns = 0;  // since the trace began, as all times here
    std::string path;
    std::vector<std::string> arguments;  // the first ones, long ones cut
};

struct ThreadLife {
    uint32_t tid = 0;
    std::string name;  // at its end
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t cpu_ns = 0;    // as the kernel accounts it: it may lack the last milliseconds
    bool is_older = false;  // than the trace
    bool idle = false;      // it slept from its beginning to its end (time_shares.h)
    // Another of a process of this number had its number: sums by number are of both.
    bool shares_number = false;
};

struct ProcessLife {
    uint32_t pid = 0, parent = 0;  // parent 0: not known
    std::string name;
    uint64_t begin_ns = 0, end_ns = 0;
    bool ended = false;  // else it outlived the trace
    int64_t exit_status = 0, signal = 0;
    uint64_t cpu_ns = 0;
    std::optional<uint64_t> peak_resident;  // bytes; nothing: not seen, and less than before
    std::vector<ProgramRun> programs;
    std::vector<ThreadLife> threads;  // that ended while the trace ran, or at its end

    uint64_t duration_ns() const { return end_ns - begin_ns; }
};

class ProcessTree {
public:
    void add(const saved::EventFields& one);
    // `end_ns`: of the trace. In the order in which they began.
    std::vector<ProcessLife> lives(uint64_t end_ns) const;

private:
    struct State {
        ProcessLife life;
        std::optional<uint64_t> first_seen_ns, exec_ns;
        ProgramRun asked;  // by execve(), which may fail
        uint64_t peak_before = 0, peak = 0;
        uint64_t cpu_before = 0;            // of its main thread, when its first program began
        std::optional<uint64_t> peak_seen;  // by looks, of the program that runs
        bool was_cloned = false;
    };
    State& state_of(const saved::EventFields& one);
    static void add_command(State& state, const saved::EventFields& one);
    static void add_exec(State& state, const saved::EventFields& one);
    static void add_memory(State& state, const saved::EventFields& one);
    static void add_exit(State& state, const saved::EventFields& one);
    static ProcessLife life_of(const State& state, uint64_t end_ns);

    std::map<uint32_t, State> states_;
    std::vector<State> former_;  // whose number another process has by now
};

// Of a command's arguments, in one line; a long one is cut.
std::string command_line(const std::vector<std::string>& arguments);

void add_rows(sink::Rows& rows, const std::vector<ProcessLife>& lives);
void add_members(JsonWriter& json, const ProcessLife& life);

}  // namespace mlbcc::profile
