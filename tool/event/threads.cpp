#include "event/threads.h"

#include <algorithm>

namespace mlbcc::event {

namespace {
constexpr uint64_t kSyscallStack = 0xffff;  // MLBCC_SYSCALL_SP of probe_templates/call.bpf.c
}  // namespace

Thread& SpanTracker::thread(uint32_t pid, uint32_t tid) {
    if (tid == 0) {
        nobody_.pid = pid;
        return nobody_;
    }
    if (last_ == nullptr || last_tid_ != tid) {
        auto found = threads_.find(tid);
        last_ = found != threads_.end() ? &found->second : &add_thread(pid, tid);
        last_tid_ = tid;
    }
    if (last_->pid == pid) return *last_;
    // The thread id is another process's now: its exit was lost.
    thread_ended(tid);
    last_ = &add_thread(pid, tid);
    last_tid_ = tid;
    return *last_;
}

Thread& SpanTracker::add_thread(uint32_t pid, uint32_t tid) {
    if (threads_.size() >= kMaxThreads) make_room();
    ++threads_seen_;
    if (processes_[pid]++ == 0) ++processes_seen_;
    Thread& thread = threads_[tid];
    thread.pid = pid;
    return thread;
}

void SpanTracker::begin(Thread& thread, const OpenSpan& span) {
    if (thread.open.size() >= kMaxDepth) close(thread, 0, kMaxDepth / 2);
    auto at = thread.open.end();
    while (at != thread.open.begin() && std::prev(at)->start_ns > span.start_ns) --at;
    thread.open.insert(at, span);
}

void SpanTracker::reached(Thread& thread, uint64_t sp, bool is_tail_call) {
    size_t at = thread.open.size();
    uint64_t least = is_tail_call ? sp : sp + 1;
    while (at > 0 && thread.open[at - 1].sp < least) --at;
    if (at < thread.open.size()) close(thread, at, thread.open.size());
}

std::optional<uint64_t> SpanTracker::end(Thread& thread, const OpenSpan& span) {
    std::vector<OpenSpan>& open = thread.open;
    size_t at = open.size();
    // What began later than this call is over with it, whether or not it said so.
    while (at > 0 && open[at - 1].start_ns > span.start_ns) --at;
    close(thread, at, open.size());
    for (; at > 0 && open[at - 1].start_ns == span.start_ns; --at) {
        const OpenSpan& mine = open[at - 1];
        if (mine.probe != span.probe || mine.slot != span.slot) continue;
        uint64_t event = mine.event;
        open.erase(open.begin() + static_cast<ptrdiff_t>(at - 1));
        return event;
    }
    ++unmatched_[static_cast<uint32_t>(span.rule)].ends;
    return std::nullopt;
}

void SpanTracker::close(Thread& thread, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
        ++unmatched_[static_cast<uint32_t>(thread.open[i].rule)].begins;
    }
    auto begin = thread.open.begin();
    thread.open.erase(begin + static_cast<ptrdiff_t>(from), begin + static_cast<ptrdiff_t>(to));
}

void SpanTracker::leave_process(uint32_t pid) {
    auto found = processes_.find(pid);
    if (found != processes_.end() && --found->second == 0) processes_.erase(found);
}

void SpanTracker::thread_ended(uint32_t tid) {
    auto found = threads_.find(tid);
    if (found == threads_.end()) return;
    close_all(found->second);
    leave_process(found->second.pid);
    threads_.erase(found);
    last_ = nullptr;
}

void SpanTracker::process_ended(uint32_t pid) {
    if (processes_.contains(pid)) end_threads(pid, std::nullopt);
}

// The system call that did it goes on, and what it has called in the kernel: innermost, and as near
// to the stack's end as no other.
void SpanTracker::process_replaced(uint32_t pid) {
    Thread& first = thread(pid, pid);
    auto in_kernel = [](const OpenSpan& span) { return span.sp > 0 && span.sp <= kSyscallStack; };
    size_t goes_on = first.open.size();
    while (goes_on > 0 && in_kernel(first.open[goes_on - 1])) --goes_on;
    close(first, 0, goes_on);
    end_threads(pid, pid);
}

void SpanTracker::end_threads(uint32_t pid, std::optional<uint32_t> except) {
    std::vector<uint32_t> tids;
    for (const auto& [tid, thread] : threads_) {
        if (thread.pid == pid && tid != except) tids.push_back(tid);
    }
    for (uint32_t tid : tids) thread_ended(tid);
}

void SpanTracker::make_room() {
    std::vector<uint32_t> idle;
    for (const auto& [tid, thread] : threads_) {
        if (thread.open.empty()) idle.push_back(tid);
    }
    for (uint32_t tid : idle) thread_ended(tid);
    if (threads_.size() >= kMaxThreads) finish();
}

void SpanTracker::close_spans() {
    for (auto& [tid, thread] : threads_) close_all(thread);
    close_all(nobody_);
}

void SpanTracker::finish() {
    close_spans();
    threads_.clear();
    processes_.clear();
    last_ = nullptr;
}

}  // namespace mlbcc::event
