// Threads' time off the CPU, for templates of the scheduler: those that ask for the offsets of
// task_struct.se and sched_entity.sum_exec_runtime.
#ifdef MLBCC_OFFSET_sched_entity_sum_exec_runtime

struct wait {
    u64 left, woken;  // woken: 0 until it is
    u64 ran;          // ns of CPU time in all its life, until it left
};

// What a switch says of waits.
struct wait_end {
    u32 thread;  // whose wait ends
    u64 time;    // when it does
    u64 ran;     // by now, who leaves
};

// `known` is what is known of the thread that leaves, beginning with its wait; 0: it does not wait.
// A wait ends for the thread that comes, now. But a kernel can keep from tracers who certain threads
// give way to, as an agent of a virtual machine's host: then who leaves is still known to wait, and
// came when it began to run. That wait is told first: who comes now can be found so, too, and what
// rules do is there once. Without a branch, for the verifier would go through that for each way.
static __always_inline struct wait_end mlbcc_wait_end(struct bpf_raw_tracepoint_args *at,
                                                      const void *known) {
    struct wait_end end = {};
    struct wait last = {};  // stays so where there is nothing to be read
    bpf_probe_read_kernel(&end.thread, sizeof(end.thread), (void *)(at->args[2] + MLBCC_TASK_PID));
    bpf_probe_read_kernel(&end.ran, sizeof(end.ran),
                          (void *)(at->args[1] + MLBCC_OFFSET_task_struct_se +
                                   MLBCC_OFFSET_sched_entity_sum_exec_runtime));
    bpf_probe_read_kernel(&last, sizeof(last), known);
    end.time = bpf_ktime_get_ns();
    u64 unseen = MLBCC_LESS(0, last.left);
    MLBCC_SEEN(unseen);
    u64 came = mlbcc_later(end.time - (end.ran - last.ran), mlbcc_later(last.left, last.woken));
    u32 leaves = bpf_get_current_pid_tgid();
    end.time += (came - end.time) & -unseen;
    end.thread += (leaves - end.thread) & -unseen;
    return end;
}

#endif
