// What threads wait for, for templates of the scheduler and of system calls.

// What goes on when the trace ends is told then: a template's program that the tracer runs itself for
// each key of a table (`//= goes_on TABLE PROGRAM`). No tracepoint gives it what the tracer does: the
// key, and zeros. `call.taken` has this bit then.
#define MLBCC_GOES_ON (1ULL << 63)
#define MLBCC_TOLD_KEY(at) ((at)->args[0])
#define MLBCC_IS_TOLD(at) ((at)->args[1] == 0)

// Of a table's values whose keys are threads, the beginning.
struct wait {
    struct identity id;
    u64 left, woken;  // woken: 0 until it is
    u64 ran;          // ns of CPU time in all its life, until it left
    u64 taken;        // as call.taken
};
MLBCC_SAME(wait, left, 16);

// A thread that has not run since the trace began, as /proc knows it. A program of the template takes
// it into the table (`//= found_waiting PROGRAM`), with its place in the tracer's memory for a key.
struct waiter {
    struct wait wait;
    char comm[16];
    u64 arguments[6];  // of the system call that it is in
    s32 system_call;   // -1: none
    u32 state;         // as the scheduler's: 1 asleep, 2 that cannot be interrupted, 4, 8 stopped
    u32 file;          // what the first argument is open on: the type in stat(2), without its zeros
    u32 unused;
};
MLBCC_SAME(waiter, comm, 48);
MLBCC_SAME(waiter, system_call, 112);
_Static_assert(sizeof(struct waiter) == 128, "waiter");

// Its name is kept where records look for that of a thread that does not run.
static __always_inline int mlbcc_found_waiting(struct bpf_raw_tracepoint_args *at,
                                               struct waiter *found) {
    if (bpf_probe_read_user(found, sizeof(*found), (void *)MLBCC_TOLD_KEY(at)) != 0) return 0;
    u32 thread = found->wait.id.thread;
    mlbcc_claim(thread);
    struct thread_state *slot = mlbcc_slot(thread);
    if (slot) __builtin_memcpy(&slot->comm, found->comm, sizeof(slot->comm));
    return 1;
}

// Threads' time off the CPU, for templates that ask for the offsets of task_struct.se and
// sched_entity.sum_exec_runtime.
#ifdef MLBCC_OFFSET_sched_entity_sum_exec_runtime

// What a switch says of waits.
struct wait_end {
    u32 thread;  // whose wait ends
    u64 time;    // when it does
    u64 ran;     // by now, who leaves
};

// Who leaves the CPU at a switch.
static __always_inline u32 mlbcc_leaves(struct bpf_raw_tracepoint_args *at) {
    return bpf_get_current_pid_tgid() | -(u64)MLBCC_IS_TOLD(at);  // no thread has all bits
}

// `known` is what is known of the thread that leaves, beginning with its wait; 0: it does not wait.
// A wait ends for the thread that comes, or that is told of, now. But a kernel can keep from tracers who certain threads
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
    end.thread += MLBCC_TOLD_KEY(at) & -(u64)MLBCC_IS_TOLD(at);  // nobody comes then: it is 0
    end.time = bpf_ktime_get_ns();
    u64 unseen = MLBCC_LESS(0, last.left);
    MLBCC_SEEN(unseen);
    u64 came = mlbcc_later(end.time - (end.ran - last.ran), mlbcc_later(last.left, last.woken));
    u32 leaves = mlbcc_leaves(at);
    end.time += (came - end.time) & -unseen;
    end.thread += (leaves - end.thread) & -unseen;
    return end;
}

#endif
