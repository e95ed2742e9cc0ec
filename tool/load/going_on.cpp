#include "load/going_on.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "codegen/codegen.h"
#include "process/proc.h"

namespace mlbcc::load {
namespace {

using Definition = rules::ProbeDefinition;

std::vector<const Definition*> telling(const plan::Plan& plan) {
    std::vector<const Definition*> all;
    for (const plan::ProbePlan& probe : plan.probes) {
        const auto* at = std::get_if<target::Defined>(&probe.probe->at);
        if (at != nullptr && !at->definition->goes_on.table.empty()) all.push_back(at->definition);
    }
    return all;
}

// The scheduler's bits for the letters of /proc/PID/stat.
uint32_t state_of(char letter) {
    switch (letter) {
    case 'S': return 1;
    case 'D': return 2;
    case 'T': return 4;
    case 't': return 8;
    default: return 0;
    }
}

codegen::Waiter waiter_of(int pid, int tid, const process::SleepingThread& thread) {
    constexpr uint32_t kTypeBits = 12;  // of a mode, below the file's type
    codegen::Waiter made{};
    made.tgid = made.pid = static_cast<uint32_t>(pid);
    made.thread = made.tid = static_cast<uint32_t>(tid);
    thread.comm.copy(made.comm, sizeof made.comm - 1);
    std::ranges::copy(thread.arguments, made.arguments);
    made.system_call = thread.system_call;
    made.state = state_of(thread.state);
    made.file = thread.file >> kTypeBits;
    return made;
}

// Who is in a table whose keys are threads, by the numbers of our namespace.
std::set<uint32_t> threads_in(const bpf::Map& table) {
    std::set<uint32_t> found;
    for (const std::vector<std::byte>& key : table.keys()) {
        const auto value = table.lookup(key.data());
        if (!value || value->size() < offsetof(codegen::Waiter, since_ns)) continue;
        uint32_t tid = 0;
        std::memcpy(&tid, value->data() + offsetof(codegen::Waiter, tid), sizeof tid);
        found.insert(tid);
    }
    return found;
}

// A thread that is in no table has not run since the trace began, if it does not run now.
class Finder {
public:
    Finder(uint64_t since_ns, bool in_namespace)
        : since_ns_(since_ns), in_namespace_(in_namespace) {}

    void take_in(const bpf::Map& table, int program, const std::vector<int>& processes) const {
        const std::set<uint32_t> known = threads_in(table);
        for (const int pid : processes) {
            const Result<std::vector<int>> threads = process::threads_of(pid);
            if (!threads) continue;
            for (const int tid : *threads) {
                if (known.contains(static_cast<uint32_t>(tid))) continue;
                const auto thread = process::sleeping_thread(pid, tid);
                if (!thread) continue;
                codegen::Waiter waiter = waiter_of(pid, tid, *thread);
                waiter.since_ns = since_ns_;
                // The kernel's own number is not known there: this one no thread has.
                if (in_namespace_) waiter.thread |= 1U << 31;
                (void)bpf::run_once(program, reinterpret_cast<uint64_t>(&waiter));
            }
        }
    }

private:
    uint64_t since_ns_;
    bool in_namespace_;
};

uint64_t tell_each(const bpf::Map& table, int program) {
    uint64_t told = 0;
    for (const std::vector<std::byte>& key : table.keys()) {
        uint64_t number = 0;
        std::memcpy(&number, key.data(), std::min(key.size(), sizeof number));
        const Result<uint32_t> done = bpf::run_once(program, number);
        if (done && *done != 0) ++told;
    }
    return told;
}

}  // namespace

bool GoingOn::finds_threads() const {
    return std::ranges::any_of(telling(plan_),
                               [](const Definition* one) { return !one->goes_on.finds.empty(); });
}

void GoingOn::tell(uint64_t since_ns, const std::vector<int>& processes) {
    const Finder finder(since_ns, loaded_.map(codegen::maps::kSeeds) != nullptr);
    for (const Definition* one : telling(plan_)) {
        const bpf::Map* table = loaded_.map(one->goes_on.table);
        const int tells = loaded_.program(one->goes_on.tells);
        const int finds = loaded_.program(one->goes_on.finds);
        if (table == nullptr || tells < 0) continue;
        if (finds >= 0) finder.take_in(*table, finds, processes);
        if (const uint64_t told = tell_each(*table, tells); told > 0) {
            told_.emplace_back(one->group + ":" + one->name, told);
        }
    }
}

}  // namespace mlbcc::load
