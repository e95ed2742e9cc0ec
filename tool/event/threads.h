// Pairs begins with ends, thread by thread: each thread has a stack of its open spans. An end finds
// its begin by function and start time; what lies above it never ended (longjmp, an exception, a
// lost record) and is counted, as is what is open when its thread or program ends.
//
//   B a@1  B b@2  B c@3  E b@2   ->  b is closed; c is an unmatched begin; a is still open
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "plan/plan.h"

namespace mlbcc::event {

struct OpenSpan {
    uint64_t start_ns = 0;
    plan::ProbeId probe{};
    uint32_t slot = 0;   // which of the probe's span clauses
    uint64_t event = 0;  // id of its B
    plan::RuleId rule{};
    uint64_t sp = 0;  // stack pointer at its beginning
};

struct Thread {
    uint32_t pid = 0;
    std::vector<OpenSpan> open;  // outermost first, by start

    // The innermost span that was open at `time_ns`.
    std::optional<uint64_t> parent_at(uint64_t time_ns) const {
        for (auto span = open.rbegin(); span != open.rend(); ++span) {
            if (span->start_ns <= time_ns) return span->event;
        }
        return std::nullopt;
    }
};

class SpanTracker {
public:
    static constexpr size_t kMaxDepth = 4096;      // deeper: the outer half is given up
    static constexpr size_t kMaxThreads = 131072;  // more: those without open spans are forgotten

    struct Unmatched {
        uint64_t begins = 0, ends = 0;
    };

    explicit SpanTracker(size_t rules) : unmatched_(rules) {}

    // Stays where it is until the thread ends. Thread 0 is none: a CPU that idles, or one whose
    // number is not known. It is not counted.
    Thread& thread(uint32_t pid, uint32_t tid);

    void begin(Thread& thread, const OpenSpan& span);
    // A call begins at `sp`: spans further down the stack were left without a return; those at the
    // same place, too, unless they have made a tail call of it.
    void reached(Thread& thread, uint64_t sp, bool is_tail_call);
    // The id of the B, if there is one; else counted as an unmatched end.
    std::optional<uint64_t> end(Thread& thread, const OpenSpan& span);

    // Counts what is open as unmatched begins and forgets the thread, all threads of a process, or
    // everything.
    void thread_ended(uint32_t tid);
    void process_ended(uint32_t pid);
    void finish();
    // What is open stays so no longer, and is counted as unmatched; threads are as they were.
    void close_spans();
    // Other rules: nothing is counted of them yet.
    void change_rules(size_t rules) { unmatched_.assign(rules, {}); }
    // An exec: the process goes on with one thread, whose id is the process's.
    void process_replaced(uint32_t pid);

    const Unmatched& unmatched(plan::RuleId rule) const {
        return unmatched_[static_cast<uint32_t>(rule)];
    }
    uint64_t threads_seen() const { return threads_seen_; }
    uint64_t processes_seen() const { return processes_seen_; }

private:
    Thread& add_thread(uint32_t pid, uint32_t tid);
    void close(Thread& thread, size_t from, size_t to);
    void close_all(Thread& thread) { close(thread, 0, thread.open.size()); }
    void end_threads(uint32_t pid, std::optional<uint32_t> except);
    void leave_process(uint32_t pid);
    void make_room();

    std::unordered_map<uint32_t, Thread> threads_;  // by tid
    Thread nobody_;
    std::unordered_map<uint32_t, uint32_t> processes_;  // pid to its threads in threads_
    std::vector<Unmatched> unmatched_;                  // by rule
    uint64_t threads_seen_ = 0, processes_seen_ = 0;
    Thread* last_ = nullptr;
    uint32_t last_tid_ = 0;
};

}  // namespace mlbcc::event
