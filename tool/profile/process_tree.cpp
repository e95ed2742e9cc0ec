#include "profile/process_tree.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mlbcc::profile {
namespace {

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

std::vector<std::string> arguments_of(const saved::Happening& one) {
    std::vector<std::string> arguments;
    for (int i = 0; i < kArguments; ++i) {
        std::string name = fmt::format("arg{}", i);
        if (!one.has(name)) break;
        arguments.emplace_back(one.text(name));
    }
    return arguments;
}

}  // namespace

ProcessTree::State& ProcessTree::state_of(const saved::Happening& one) {
    State& state = states_[one.pid];
    state.life.pid = one.pid;
    if (!state.first_seen_ns) state.first_seen_ns = one.time_ns;
    bool is_main = one.pid == one.tid;
    if (is_main || state.life.name.empty()) state.life.name = one.comm;
    auto parent = static_cast<uint32_t>(one.number("parent"));
    if (state.life.parent == 0) state.life.parent = parent;
    return state;
}

void ProcessTree::add(const saved::Happening& one) {
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

void ProcessTree::add_command(State& state, const saved::Happening& one) {
    state.asked = {one.time_ns, std::string(one.text("path")), arguments_of(one)};
}

// A script is given its interpreter's arguments, and shown with those that were asked for. Those
// may have been in no memory yet (docs/language.md).
void ProcessTree::add_exec(State& state, const saved::Happening& one) {
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

void ProcessTree::add_memory(State& state, const saved::Happening& one) {
    if (!one.has("peak")) return;
    state.peak_seen = std::max(state.peak_seen.value_or(0), one.natural("peak"));
}

void ProcessTree::add_exit(State& state, const saved::Happening& one) {
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

}  // namespace mlbcc::profile
