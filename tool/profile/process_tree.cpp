#include "profile/process_tree.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "profile/launchers.h"
#include "text/terminal_text.h"

namespace mlbcc::profile {
namespace {

constexpr size_t kProcesses = 40, kCommand = 72;
constexpr int kArguments = 6;  // that the rules keep

void mark_shared_numbers(std::vector<ProcessLife>& lives) {
    std::map<std::pair<uint32_t, uint32_t>, ThreadLife*> first;
    for (ProcessLife& life : lives) {
        for (ThreadLife& thread : life.threads) {
            auto [found, is_first] = first.try_emplace({life.pid, thread.tid}, &thread);
            if (!is_first) found->second->shares_number = thread.shares_number = true;
        }
    }
}

uint64_t before(uint64_t time_ns, uint64_t age_ns) {
    return time_ns > age_ns ? time_ns - age_ns : 0;
}

std::vector<std::string> arguments_of(const saved::EventFields& one) {
    std::vector<std::string> arguments;
    for (int i = 0; i < kArguments; ++i) {
        std::string name = fmt::format("arg{}", i);
        if (!one.has(name)) break;
        arguments.emplace_back(one.text(name));
    }
    return arguments;
}

std::string how_it_ended(const ProcessLife& life) {
    if (!life.ended) return "runs on";
    if (life.signal != 0) return fmt::format("ended by signal {}", life.signal);
    return fmt::format("exit status {}", life.exit_status);
}

std::string title_of(const ProcessLife& life) {
    if (life.programs.empty()) return life.name;
    const ProgramRun& last = life.programs.back();
    return last.arguments.empty() ? last.path : command_line(last.arguments);
}

class Tree {
public:
    // Without `launchers`.
    Tree(const std::vector<ProcessLife>& lives, const Launchers& launchers) {
        std::map<uint32_t, const ProcessLife*> known;
        auto is_shown = [&](const ProcessLife& life) { return !launchers.pids.contains(life.pid); };
        for (const ProcessLife& life : lives) {
            if (is_shown(life)) known[life.pid] = &life;
        }
        for (const ProcessLife& life : lives) {
            if (!is_shown(life)) continue;
            children_[known.contains(life.parent) ? life.parent : 0].push_back(&life);
        }
    }
    void add_to(sink::Rows& rows, uint32_t parent = 0, size_t depth = 1) {
        auto found = children_.find(parent);
        if (found == children_.end()) return;
        for (const ProcessLife* life : found->second) {
            if (++shown_ > kProcesses) continue;
            add(rows, *life, 2 * depth);
            add_to(rows, life->pid, depth + 1);
        }
    }
    size_t hidden() const { return shown_ > kProcesses ? shown_ - kProcesses : 0; }

private:
    static void add(sink::Rows& rows, const ProcessLife& life, size_t indent) {
        rows.line(fmt::format("{:{}}{} {}", "", indent, life.pid, title_of(life)));
        std::string peak = life.peak_resident ? fmt::format(", peak memory {}",
                                                            sink::short_bytes(*life.peak_resident))
                                              : "";
        rows.line(
            fmt::format("{:{}}{}, {} of CPU time, {}{}, {}", "", indent + 4,
                        sink::short_duration(life.duration_ns()), sink::short_duration(life.cpu_ns),
                        sink::plural(life.threads.size(), "thread"), peak, how_it_ended(life)));
    }

    std::map<uint32_t, std::vector<const ProcessLife*>> children_;
    size_t shown_ = 0;
};

}  // namespace

ProcessTree::State& ProcessTree::state_of(const saved::EventFields& one) {
    State& state = states_[one.pid];
    state.life.pid = one.pid;
    if (!state.first_seen_ns) state.first_seen_ns = one.time_ns;
    bool is_main = one.pid == one.tid;
    if (is_main || state.life.name.empty()) state.life.name = one.comm;
    auto parent = static_cast<uint32_t>(one.number("parent"));
    if (state.life.parent == 0) state.life.parent = parent;
    return state;
}

void ProcessTree::add(const saved::EventFields& one) {
    State& state = state_of(one);
    if (one.type != "process") return;
    if (one.name == "command") return add_command(state, one);
    if (one.name == "exec") return add_exec(state, one);
    if (one.name == "exit") return add_exit(state, one);
    if (one.name == "memory") return add_memory(state, one);
    if (one.name != "clone") return;
    // A thread's number is kept, too, and is never that of a process.
    State& child = states_[static_cast<uint32_t>(one.number("child"))];
    if (child.life.ended && child.life.end_ns < one.time_ns)
        former_.push_back(std::exchange(child, {}));
    child.life.parent = one.pid;
    child.was_cloned = true;
}

void ProcessTree::add_command(State& state, const saved::EventFields& one) {
    state.asked = {one.time_ns, std::string(one.text("path")), arguments_of(one)};
}

// A script is given its interpreter's arguments, and shown with those that were asked for. Those
// may have been in no memory yet (docs/language.md).
void ProcessTree::add_exec(State& state, const saved::EventFields& one) {
    ProgramRun run = std::exchange(state.asked, {});
    std::vector<std::string> given = arguments_of(one);
    const bool is_same = !run.arguments.empty() && !given.empty() && run.arguments[0] == given[0];
    if (is_same || run.arguments.empty()) run.arguments = std::move(given);
    run.time_ns = one.time_ns;
    run.path = one.text("path");
    state.life.programs.push_back(std::move(run));
    state.peak_before = one.natural("peak_before");
    if (state.exec_ns) return;
    state.exec_ns = one.time_ns;
    state.cpu_before = one.natural("cpu_before");
}

void ProcessTree::add_memory(State& state, const saved::EventFields& one) {
    if (!one.has("peak")) return;
    state.peak_seen = std::max(state.peak_seen.value_or(0), one.natural("peak"));
}

void ProcessTree::add_exit(State& state, const saved::EventFields& one) {
    ThreadLife thread{one.tid, std::string(one.comm), before(one.time_ns, one.natural("age")),
                      one.time_ns, one.natural("cpu")};
    thread.is_older = one.natural("age") > one.time_ns;
    state.peak = std::max(state.peak, one.natural("peak_resident"));
    state.life.ended |= saved::ends_process(one);
    if (one.pid == one.tid || one.number("whole") != 0) {
        state.life.exit_status = one.number("status");
        state.life.signal = one.number("signal");
    }
    state.life.end_ns = std::max(state.life.end_ns, one.time_ns);
    state.life.threads.push_back(std::move(thread));
}

// The traced command was held until the trace ran: it begins as its program does. Who was neither
// made nor given a program while the trace ran was there before.
ProcessLife ProcessTree::life_of(const State& state, uint64_t end_ns) {
    ProcessLife life = state.life;
    if (!life.ended) life.end_ns = end_ns;
    life.begin_ns = state.was_cloned ? *state.first_seen_ns : state.exec_ns.value_or(0);
    for (ThreadLife& thread : life.threads) {
        if (state.was_cloned && thread.tid == life.pid) {
            life.begin_ns = std::min(life.begin_ns, thread.begin_ns);
        } else if (thread.tid == life.pid && state.exec_ns) {
            thread.is_older = false;
            thread.cpu_ns -= std::min(thread.cpu_ns, state.cpu_before);
        }
        life.cpu_ns += thread.cpu_ns;
    }
    for (ThreadLife& thread : life.threads) {
        thread.begin_ns = std::max(thread.begin_ns, life.begin_ns);
    }
    std::ranges::sort(life.threads, {},
                      [](const ThreadLife& one) { return std::pair(one.begin_ns, one.tid); });
    life.peak_resident = state.peak > state.peak_before ? state.peak : state.peak_seen;
    return life;
}

std::vector<ProcessLife> ProcessTree::lives(uint64_t end_ns) const {
    std::vector<ProcessLife> lives;
    for (const State& state : former_) lives.push_back(life_of(state, end_ns));
    for (const auto& [pid, state] : states_) {
        if (state.first_seen_ns) lives.push_back(life_of(state, end_ns));
    }
    std::ranges::sort(lives, {},
                      [](const ProcessLife& one) { return std::pair(one.begin_ns, one.pid); });
    mark_shared_numbers(lives);
    return lives;
}

static void add_members(JsonWriter& json, const ProgramRun& run) {
    member(json, "time_ns", run.time_ns);
    member(json, "path", run.path);
    member(json, "arguments", run.arguments);
}

static void add_members(JsonWriter& json, const ThreadLife& thread) {
    member(json, "tid", thread.tid);
    member(json, "name", thread.name);
    member(json, "begin_ns", thread.begin_ns);
    member(json, "end_ns", thread.end_ns);
    member(json, "cpu_ns", thread.cpu_ns);
}

void add_members(JsonWriter& json, const ProcessLife& life) {
    member(json, "pid", life.pid);
    member(json, "parent", life.parent);
    member(json, "name", life.name);
    member(json, "begin_ns", life.begin_ns);
    member(json, "end_ns", life.end_ns);
    member(json, "duration_ns", life.duration_ns());
    member(json, "ended", life.ended);
    member(json, "exit_status", life.exit_status);
    member(json, "signal", life.signal);
    member(json, "cpu_ns", life.cpu_ns);
    member(json, "peak_resident_bytes", life.peak_resident);
    member(json, "programs", life.programs);
    member(json, "threads", life.threads);
}

std::string command_line(const std::vector<std::string>& arguments) {
    std::string line;
    for (const std::string& argument : arguments) line += (line.empty() ? "" : " ") + argument;
    return sink::shortened(on_terminal(line), kCommand);
}

void add_rows(sink::Rows& rows, const std::vector<ProcessLife>& lives) {
    const Launchers launchers = launchers_of(lives);
    Tree tree(lives, launchers);
    tree.add_to(rows);
    if (tree.hidden() > 0) rows.line(fmt::format("  and {} more", tree.hidden()));
    if (!launchers.pids.empty()) {
        rows.line(fmt::format("  started by {}: {}, {} of CPU time",
                              command_line(launchers.arguments),
                              sink::plural(launchers.pids.size(), "process"),
                              sink::short_duration(launchers.cpu_ns)));
    }
}

}  // namespace mlbcc::profile
